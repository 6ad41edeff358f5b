import { buildSchema, parse } from 'graphql';
import { annotationsOf } from '../../src/graphql/annotations/annotations';
import { Lifecycle } from '../../src/graphql/annotations/lifecycle';

const DIRECTIVES = `
  enum StabilityLevel { EXPERIMENTAL BETA }
  directive @stability(level: StabilityLevel!) on FIELD_DEFINITION
  directive @sunset(since: String!, on: String, replacement: String) on FIELD_DEFINITION
`;

describe('the schema stops the start if it', () => {
  test.each([
    ['has an invalid date', '@deprecated @sunset(since: "soon")', 'The @sunset of Query.a has the date "soon"'],
    ['has a date that does not exist', '@deprecated @sunset(since: "2026-13-01")', '"2026-13-01"'],
    [
      'ends something that is not deprecated',
      '@sunset(since: "2026-11-01")',
      'Query.a has a @sunset, but is not deprecated',
    ],
  ])('%s', (_what, directives, message) => {
    const schema = buildSchema(`${DIRECTIVES} type Query { a: Int ${directives} }`);
    expect(() => annotationsOf(schema)).toThrow(message);
  });
});

test('recursive input types are searched completely', () => {
  const schema = buildSchema(`
    type Query { find(filter: Filter): Int }
    input Filter { and: [Filter!] not: Filter old: Int @deprecated(reason: "Old.") name: String }
  `);
  const document = parse('query ($filter: Filter) { find(filter: $filter) }');
  const lifecycle = Lifecycle.of(schema, document, document.definitions[0] as never);
  const named = (filter: unknown) =>
    lifecycle?.noticeFor({ filter })?.annotations.map(({ coordinate }) => coordinate) ?? [];
  expect(named({ and: [{ not: { name: 'a' } }] })).toEqual([]);
  expect(named({ and: [{ not: { and: { old: 1 } } }] })).toEqual(['Filter.old']);
  for (const odd of [7, 'a', [], [7], { and: 7 }, { and: [null] }, null]) expect(named(odd)).toEqual([]);
});

test('operations that cannot use anything annotated cost nothing', () => {
  const schema = buildSchema(
    'type Query { find(filter: Filter): Int old: Int @deprecated } input Filter { name: String }',
  );
  const document = parse('query ($filter: Filter) { find(filter: $filter) }');
  expect(Lifecycle.of(schema, document, document.definitions[0] as never)).toBeUndefined();
});
