import { casesOf } from '../../../src/database/reading/ranges';

test('every letter is a form of its lower case', () => {
  const missing: string[] = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const letter = String.fromCodePoint(code);
    const lower = letter.toLowerCase();
    if (lower !== letter && [...lower].length === 1 && !casesOf(lower).includes(letter)) missing.push(letter);
  }
  expect(missing).toEqual([]);
});
