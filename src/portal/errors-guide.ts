import { STATUS_CODES } from 'node:http';
import type { Catalogue, ErrorEntry } from '../errors/codes';

const INTRODUCTION = `# Errors

Every error code: why it occurs, and what to do about it. [Handling errors](error-handling.md) explains the format of an error.

A code is the same in both interfaces. In REST, it is the \`code\` of the \`Error\` object. In GraphQL, it is \`extensions.code\`.
The GraphQL enum \`ErrorCode\` lists all codes. Decide by the code, never by the text of a message. In
[schema.graphql](../schema.graphql), \`@errors\` names the codes that a field itself can cause. The OpenAPI document names the
codes of each operation and status.
A response with status 400 or higher links to its code on this page: \`Link: </docs/errors#insufficient_stock>; rel="help"\`.
A response whose errors have different codes has no link.
`;

/** The contents of docs/errors.md. Each code has a heading, so that links can lead to the code. */
export function errorsGuide(catalogue: Catalogue): string {
  const parts = [INTRODUCTION];
  let group: number | undefined;
  for (const [code, { status, why, fix, message, rules }] of catalogue) {
    if (status !== group) parts.push(`## ${status} ${STATUS_CODES[status]}\n`);
    group = status;
    parts.push(`### ${code}\n\n${why}\n\n**What to do:** ${fix}\n\n> ${message.replace(/[<>]/g, '\\$&')}\n`);
    if (rules) parts.push(rulesTable(rules));
  }
  return parts.join('\n');
}

function rulesTable(rules: NonNullable<ErrorEntry['rules']>): string {
  const rows = Object.entries(rules).map(([rule, meaning]) => `| \`${rule}\` | ${meaning} |`);
  return ['| `rule` in `details` | meaning |', '| --- | --- |', ...rows, ''].join('\n');
}
