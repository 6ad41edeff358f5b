import fc from 'fast-check';

/** A lone surrogate, half of a surrogate pair. UTF-8 cannot encode it, but a JSON escape can express it. */
const LONE = String.fromCharCode(0xd800);

/** Strings that often break services: they are special in SQL, JavaScript, HTTP, HTML or Unicode. */
const TEXTS = [
  ...['', ' ', '\t', "'", '"', '`', '\\', "\\'", '%', '_', '%_\\', '$1', '$$', ';', '--', '/*', '\\u0000'],
  ...["' or '1'='1", "'; drop table pets; --", '") or ("a"="a', "x' || pg_sleep(9) || '", '{1,2}', '[1,2)'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'then', 'toJSON'],
  ...['a\r\nSet-Cookie: a=b', 'a\nb', 'a\rb', '%0d%0aX-A: b', '<script>', '../../etc/passwd', '$' + '{7*7}'],
  ...['null', 'undefined', 'true', 'NaN', 'Infinity', '-0', '1e3', '0x10', '١', '１', 'available', 'SOLD'],
  ...['\0', 'a\0b', LONE, `a${LONE}b`, '\udc00\ud800', '\u202ecba', '\u200b', '\ufeff', '\u2028', '\u0085'],
  ...['é', 'e\u0301', 'ﬀ', 'ß', 'İ', 'K', '🐕', '👨‍👩‍👧', '\u{10ffff}', '\ufffe', '\u0300'.repeat(100)],
  ...[255, 256, 2000, 2001, 40_000].flatMap((length) => ['x'.repeat(length), '🐕'.repeat(length / 2)]),
];

/** Numbers as text in JSON or a URL: the boundaries of number types, and texts that are not valid numbers. */
const NUMBERS = [
  ...['0', '-0', '1', '-1', '2', '100', '101', '1.0', '1.5', '0.1e1', '1e0', '1E-1', '1e400', '-1e400', '1e-400'],
  ...['2147483647', '2147483648', '-2147483648', '-2147483649', '9007199254740991', '9007199254740993'],
  ...['9223372036854775807', '9223372036854775808', '-9223372036854775808', '9'.repeat(400), '253402300799999'],
  ...['01', '+1', '.5', '1.', '0x1', '1_000', '1n', 'NaN', '-Infinity', '--1', '1e', '٣'],
];

const DATES = [
  ...['2026-12-01T00:00:00Z', '2026-11-21T09:30:00+01:00', '2024-02-29T23:59:59.999Z', '2023-02-29T00:00:00Z'],
  ...['2026-12-31T23:59:60Z', '2026-11-21T24:00:00Z', '2026-11-21T09:30:00+25:00', '0001-01-01T00:00:00+14:00'],
  ...['0000-01-01T00:00:00Z', '0099-01-01T00:00:00Z', '9999-12-31T23:59:59-23:59', '10000-01-01T00:00:00Z'],
  ...['+275760-09-13T00:00:00Z', '1969-12-31T23:59:59.9999999999Z', '2026-11-21', '2026-W47-6', 'infinity', 'now'],
];

/** Ids of existing and of missing rows, ids of API keys, and node ids. */
const IDS = [
  ...['1', '2', '3', '4', '999', '9223372036854775807', '"1"', '"2"', '"abcdefghijkl"', '"000000000001"'],
  ...['"UGV0OjE"', '"T3JkZXI6MQ"', '"Q2F0ZWdvcnk6OTk"'],
];

export const texts = fc.oneof(
  { arbitrary: fc.constantFrom(...TEXTS), weight: 3 },
  { arbitrary: fc.string({ unit: 'binary', maxLength: 12 }), weight: 2 },
);

/** Strings without lone surrogates, so that URLs and UTF-8 bodies can contain them. */
export const wholeTexts = texts.map((text) => text.toWellFormed());

const quoted = (values: fc.Arbitrary<string>) => values.map((value) => JSON.stringify(value));

/** JSON texts for each type, most of them valid. */
export const fitting = {
  id: fc.constantFrom(...IDS),
  integer: fc.oneof(fc.integer({ min: 0, max: 5 }).map(String), fc.constantFrom(...NUMBERS)),
  text: quoted(fc.oneof(fc.constantFrom('Rex', 'Tom', 'e', 'Dogs'), wholeTexts)),
  boolean: fc.constantFrom('true', 'false'),
  date: quoted(fc.constantFrom(...DATES)),
};

const nested = fc
  .integer({ min: 2, max: 40_000 })
  .chain((depth) => fc.constantFrom('['.repeat(depth) + ']'.repeat(depth), '{"a":'.repeat(depth >> 2)));

/** JSON texts of any type, and texts that are almost JSON. */
export const anyJson: fc.Arbitrary<string> = fc.oneof(
  { arbitrary: fc.constantFrom('null', '{}', '[]', 'true', '""', '[null]', '[[1]]', '{"a":{"b":[]}}'), weight: 4 },
  { arbitrary: quoted(texts), weight: 4 },
  { arbitrary: fc.constantFrom(...NUMBERS), weight: 4 },
  { arbitrary: fc.json({ maxDepth: 3 }), weight: 2 },
  { arbitrary: fc.constantFrom('{"__proto__":{"a":1}}', '{"constructor":{"prototype":{"a":1}}}'), weight: 1 },
  { arbitrary: nested, weight: 1 },
);

/** Generates `other` for one in `times` + 1 values, and `one` for the rest. */
export function mostly<T>(one: fc.Arbitrary<T>, other: fc.Arbitrary<T>, times = 6): fc.Arbitrary<T> {
  return fc.oneof({ arbitrary: one, weight: times }, { arbitrary: other, weight: 1 });
}

/** Objects in JSON or GraphQL syntax. They usually have all required fields, and sometimes an unknown field. */
export function objectText(
  fields: { name: string; value: fc.Arbitrary<string>; required: boolean }[],
  asJson = true,
): fc.Arbitrary<string> {
  const write = (name: string, value: string) => `${asJson ? JSON.stringify(name) : name}:${value}`;
  const own = fields.map(({ name, value, required }) =>
    fc.option(
      value.map((text) => write(name, text)),
      { freq: required ? 12 : 2, nil: '' },
    ),
  );
  const names = asJson ? texts.map((name) => name.slice(0, 300)) : fc.constantFrom('a', '__proto__', 'id');
  const unknown = fc.tuple(names, asJson ? anyJson : fc.constant('1')).map(([name, value]) => write(name, value));
  return fc.tuple(...own, mostly(fc.constant(''), unknown, 8)).map((given) => `{${given.filter(Boolean).join(',')}}`);
}

/** Damaged texts, with a part removed, replaced or inserted. */
export function broken(whole: fc.Arbitrary<string>, scraps: readonly string[]): fc.Arbitrary<string> {
  return fc
    .tuple(whole, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat({ max: 12 }), fc.constantFrom('', ...scraps))
    .map(([text, where, length, scrap]) => {
      const at = Math.floor(where * text.length);
      return text.slice(0, at) + scrap + text.slice(at + length);
    });
}
