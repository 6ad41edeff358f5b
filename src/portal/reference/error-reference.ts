import { STATUS_CODES } from 'node:http';
import { type Catalogue, codesByStatus, type ErrorEntry } from '../../errors/codes';
import { anchorOf } from '../../errors/errors';
import { breakable } from '../breakable';
import { escaped, inline } from '../html';
import { type Entry, referenceHtml } from './reference-page';

interface Group {
  readonly status: number;
  /** `409 Conflict` */
  readonly title: string;
  readonly entries: readonly (readonly [code: string, ErrorEntry])[];
}

/** The codes by HTTP status. */
function groupsOf(catalogue: Catalogue): Group[] {
  return Array.from(codesByStatus(catalogue), ([status, codes]) => ({
    status,
    title: `${status} ${STATUS_CODES[status]}`,
    entries: codes.map((code) => [code, catalogue.get(code) as ErrorEntry] as const),
  }));
}

/** `/docs/errors`: each code by its status. */
export function errorReference(template: string, catalogue: Catalogue): string {
  const entry = ([code, { why, fix, message }]: Group['entries'][number]): Entry => {
    return {
      id: anchorOf(code),
      label: breakable(code),
      title: `<code>${breakable(code)}</code>`,
      // Also an anchor as it is written.
      body: `<p id="${code}">${inline(why)}</p>
        <p><strong>What to do:</strong> ${inline(fix)}</p>
        <p class="example">“${escaped(message)}”</p>`,
    };
  };
  return referenceHtml(template, {
    title: 'Errors',
    description: 'Every error code of the petstore: why it comes, and what to do.',
    introduction: LEAD,
    example: 'stock, 409…',
    parts: groupsOf(catalogue).map(({ status, title, entries }) => ({
      id: `status-${status}`,
      title,
      entries: entries.map(entry),
    })),
  });
}

const LEAD = `
  <p>A code is the same in both interfaces: <code>code</code> of the <a href="/docs/rest#Error"><code>Error</code></a> object in
    REST, <code>extensions.code</code> in GraphQL, where the enum <a href="/docs/graphql#ErrorCode"><code>ErrorCode</code></a> has
    them all. Decide by it, never by the text of a message. <a href="/docs/error-handling">Handling errors</a> is the guide.</p>
  <p>A refusal links to its code here: <code>Link: &lt;/docs/errors#insufficient_stock&gt;; rel="help"</code>.</p>`;

const INTRODUCTION = `# Errors

Every code, why it comes and what to do about it. A server has the same at \`/docs/errors\`; \`npm run schema\` writes this page.

A code is the same in both interfaces: \`code\` of the \`Error\` object in REST, \`extensions.code\` in GraphQL, where the enum
\`ErrorCode\` has them all. Decide by it, never by the text of a message. \`@errors\` in [schema.graphql](../schema.graphql) names the
codes that a field gives by its own rules, and OpenAPI those of each operation and status.
`;

/** The contents of docs/errors.md. */
export function errorsAsMarkdown(catalogue: Catalogue): string {
  const entry = ([code, { why, fix, message }]: Group['entries'][number]) => {
    return `### ${code}\n\n${why}\n\n**What to do:** ${fix}\n\n> ${message.replace(/[<>]/g, '\\$&')}\n`;
  };
  const groups = groupsOf(catalogue).map(({ title, entries }) => `## ${title}\n\n${entries.map(entry).join('\n')}`);
  return [INTRODUCTION, ...groups].join('\n');
}
