import * as fc from 'fast-check';
import { isLosslessNumber } from 'lossless-json';
import { parseJson } from '../../src/http/json-body';

/** Converts the lossless numbers of a parsed value to JavaScript numbers. */
function plain(value: unknown): unknown {
  if (isLosslessNumber(value)) return Number(value.value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
}

test('every int64 is read exactly', () => {
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  fc.assert(
    fc.property(int64, (id) => {
      const { categoryId } = parseJson(`{"name":"1.5","categoryId": ${id}}`) as { categoryId: unknown };
      expect(isLosslessNumber(categoryId) ? categoryId.value : String(categoryId)).toBe(String(id));
    }),
  );
});

test('all other JSON is parsed as by JSON.parse', () => {
  const expectSame = (text: string) => {
    const expected = JSON.parse(text);
    expect(plain(parseJson(text))).toEqual(expected);
    const delicate = { delicate: 1234567890123456, rest: expected };
    expect(plain(parseJson(`{"delicate":1234567890123456,"rest":${text}}`))).toEqual(delicate);
  };
  fc.assert(fc.property(fc.json(), expectSame));
  for (const text of ['{"a":1,"a":2}', '{"a":1234567890123456,"a":2}']) expectSame(text);
});
