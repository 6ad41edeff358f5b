import { buildSchema } from 'graphql';
import { annotationsOf } from '../../src/graphql/annotations';

const DIRECTIVES = `
  enum StabilityLevel { EXPERIMENTAL BETA }
  directive @stability(level: StabilityLevel!) on FIELD_DEFINITION
  directive @sunset(since: String!, on: String, replacement: String) on FIELD_DEFINITION
`;

describe('the start fails if the schema', () => {
  test.each([
    [
      'has a @sunset with an invalid date',
      '@deprecated @sunset(since: "soon")',
      'The @sunset of Query.a has the date "soon"',
    ],
    ['has a @sunset with a date that does not exist', '@deprecated @sunset(since: "2026-13-01")', '"2026-13-01"'],
    [
      'has a @sunset on a field that is not deprecated',
      '@sunset(since: "2026-11-01")',
      'Query.a has a @sunset, but is not deprecated',
    ],
  ])('%s', (_what, directives, message) => {
    const schema = buildSchema(`${DIRECTIVES} type Query { a: Int ${directives} }`);
    expect(() => annotationsOf(schema)).toThrow(message);
  });
});
