import { STATUS_CODES } from 'node:http';
import { ERROR_CODES, ERRORS, type ErrorCode } from '../errors/error-codes';
import { anchorOf } from '../errors/help';
import { escaped, inline } from './reference/html';

/** The codes by HTTP status: `409 Conflict`. */
function byStatus(): Map<string, ErrorCode[]> {
  const groups = new Map<string, ErrorCode[]>();
  for (const code of ERROR_CODES) {
    const title = `${ERRORS[code].status} ${STATUS_CODES[ERRORS[code].status]}`;
    groups.set(title, [...(groups.get(title) ?? []), code]);
  }
  return groups;
}

/** The entries of the page `/docs/errors`, as HTML. Each code is an anchor, in lower and in upper case. */
export function errorsAsHtml(): string {
  const entry = (code: ErrorCode) => {
    const { why, fix, message } = ERRORS[code];
    return `
      <article class="card error" id="${anchorOf(code)}">
        <h3 id="${code}"><a href="#${anchorOf(code)}">${code}</a></h3>
        <p>${inline(why)}</p>
        <p><strong>What to do:</strong> ${inline(fix)}</p>
        <p class="example">“${escaped(message)}”</p>
      </article>`;
  };
  const group = ([title, codes]: [string, ErrorCode[]]) => `
    <section class="status-group" aria-label="${title}">
      <h2>${title}</h2>${codes.map(entry).join('')}
    </section>`;
  return [...byStatus()].map(group).join('').trim();
}

const INTRODUCTION = `# Errors

Every code, why it comes and what to do about it. A server has the same at \`/docs/errors\`; \`npm run schema\` writes this page.

A code is the same in both interfaces: \`code\` of the \`Error\` object in REST, \`extensions.code\` in GraphQL, where the enum
\`ErrorCode\` has them all. Decide by it, never by the text of a message. \`@errors\` in [schema.graphql](../schema.graphql) names the
codes that a field gives by its own rules, and OpenAPI those of each operation and status.
`;

/** The contents of docs/errors.md. */
export function errorsAsMarkdown(): string {
  const entry = (code: ErrorCode) => {
    const { why, fix, message } = ERRORS[code];
    return `### ${code}\n\n${why}\n\n**What to do:** ${fix}\n\n> ${message.replace(/[<>]/g, '\\$&')}\n`;
  };
  const groups = [...byStatus()].map(([title, codes]) => `## ${title}\n\n${codes.map(entry).join('\n')}`);
  return [INTRODUCTION, ...groups].join('\n');
}
