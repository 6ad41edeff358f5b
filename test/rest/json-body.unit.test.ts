import * as fc from 'fast-check';
import { isLosslessNumber } from 'lossless-json';
import { parseJson } from '../../src/http/json-body';

/** Numbers as they are written, however they were parsed. */
function written(value: unknown): string {
  return isLosslessNumber(value) ? value.value : String(value);
}

test('every int64 is read exactly', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (id) => {
      const { categoryId } = parseJson(`{"name":"1.5","categoryId": ${id}}`) as { categoryId: unknown };
      expect(written(categoryId)).toBe(String(id));
    }),
  );
});

test('everything else is read as by JSON.parse', () => {
  const plain = (value: unknown): unknown => {
    if (isLosslessNumber(value)) return Number(value.value);
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
  };
  fc.assert(
    fc.property(fc.json(), (text) => {
      const expected = plain(JSON.parse(text));
      expect(plain(parseJson(text))).toEqual(expected);
      expect(plain(parseJson(`{"delicate":1234567890123456,"rest":${text}}`))).toEqual({
        delicate: 1234567890123456,
        rest: expected,
      });
    }),
  );
});

test.each(['{"a":1,"a":2}', '{"a":1234567890123456,"a":2}'])('the last of two equal keys wins in %s', (text) => {
  expect(written((parseJson(text) as { a: unknown }).a)).toBe('2');
});

test.each(['{"__proto__":{"x":1}}', '{"__proto__":{"x":1},"n":1234567890123456}'])(
  '%s does not reach the prototype',
  (text) => {
    const body = parseJson(text) as Record<string, unknown>;
    expect(Object.getPrototypeOf(body)).toBe(Object.getPrototypeOf(parseJson('{}')));
    expect(Object.keys(body)).toContain('__proto__');
    expect(body.x).toBeUndefined();
  },
);
