import MarkdownIt from 'markdown-it';
import Prism from 'prismjs';
import loadLanguages from 'prismjs/components/index.js';

loadLanguages.silent = true;
loadLanguages(['bash', 'graphql', 'http', 'javascript', 'json', 'sql', 'tsx', 'yaml']);

/** A section of a page: a heading, and the text up to the next heading. */
interface Section {
  /** The level of the heading, 1 to 6. */
  readonly level: number;
  /** The id of the heading. It is made from the title in the same way as on GitHub. */
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

export interface Parsed {
  readonly sections: readonly Section[];
  /** Renders the page as HTML. This is a separate step, because it takes much longer than parsing. */
  html(): string;
}

// The guides are committed with the project, so their HTML is trusted.
const markdown = new MarkdownIt({ html: true, highlight });
const { rules } = markdown.renderer;

/** Escapes a text for HTML, including text inside a quoted attribute. */
export const escaped = markdown.utils.escapeHtml;

/**
 * Parses a Markdown page.
 * @param urlOf maps a link in the page to a URL on this server, or to `undefined` if this server does not have the target.
 */
export function parse(text: string, urlOf: (href: string) => string | undefined): Parsed {
  const tokens = markdown.parse(text, {});
  /** The titles of the columns of the current table, and the index of the next column. */
  let titles: string[] = [];
  let column = 0;
  const sections: { -readonly [key in keyof Section]: Section[key] }[] = [];
  for (const [index, token] of tokens.entries()) {
    const section = sections.at(-1);
    const next = tokens[index + 1];
    if (token.type === 'heading_open') {
      const title = plain(next);
      const id = slug(title);
      token.attrSet('id', id);
      sections.push({ level: Number(token.tag.slice(1)), id, title, text: '' });
    } else if (section && tokens[index - 1]?.type !== 'heading_open') {
      section.text = `${section.text} ${plain(token)}`.replace(/\s+/g, ' ').trim();
    }
    if (token.type === 'thead_open') titles = [];
    if (token.type === 'tr_open') column = 0;
    if (token.type === 'th_open') titles.push(plain(next));
    if (token.type === 'td_open') token.attrSet('data-column', titles[column++] ?? '');
    // An empty header cell, in the corner of a table, becomes an ordinary cell.
    const end = tokens[index + 2];
    if (token.type === 'th_open' && end && next?.content === '') token.tag = end.tag = 'td';
    const role = ROLES[token.tag];
    if (role && token.nesting === 1) token.attrSet('role', role);
    retarget(token.children ?? [], urlOf);
  }
  return { sections, html: () => markdown.renderer.render(tokens, markdown.options, {}) };
}

/** On narrow screens, the cells of a row are stacked. With these roles, screen readers still present a table. */
const ROLES: Readonly<Record<string, string>> = {
  table: 'table',
  thead: 'rowgroup',
  tbody: 'rowgroup',
  tr: 'row',
  th: 'columnheader',
  td: 'cell',
};

/** The text of a block, without its markup. */
function plain(token: MarkdownIt.Token | undefined): string {
  if (token?.type === 'fence') return token.content;
  return token?.children?.map(({ type, content }) => (/break$/.test(type) ? ' ' : content)).join('') ?? '';
}

function slug(title: string): string {
  const letters = title.toLowerCase().replace(/[^\p{L}\p{N}\p{M}\p{Pc}\- ]/gu, '');
  return letters.replaceAll(' ', '-');
}

/** Replaces the URLs of links. Links to files that the server does not have become plain text. */
function retarget(tokens: readonly MarkdownIt.Token[], urlOf: (href: string) => string | undefined): void {
  let tag = 'a';
  for (const token of tokens) {
    if (token.type === 'link_close') token.tag = tag;
    if (token.type !== 'link_open') continue;
    const href = String(token.attrGet('href'));
    const url = urlOf(href);
    token.tag = tag = url ? 'a' : 'span';
    const source = `${href.replace(/^(\.\.?\/)+/, '')}, in the source`;
    token.attrs = url ? [['href', url]] : [['title', source]];
  }
}

/**
 * Highlights the syntax of a code block. `tabindex` lets users scroll wide code with the keyboard.
 * @param language may be a short name such as `sh` or `ts`.
 */
function highlight(code: string, language: string): string {
  const grammar = Prism.languages[language];
  const html = grammar ? Prism.highlight(code, grammar, language) : escaped(code);
  return `<pre class="code" tabindex="0" data-language="${escaped(language)}"><code>${html}</code></pre>`;
}

rules.heading_close = (tokens, index) => {
  const { tag } = tokens[index] as MarkdownIt.Token;
  const id = tokens[index - 2]?.attrGet('id');
  const link = `<a class="anchor" href="#${id}" aria-label="Link to “${escaped(plain(tokens[index - 1]))}”">#</a>`;
  return `${tag === 'h1' ? '' : link}</${tag}>\n`;
};
rules.table_open = () => '<div class="table"><table role="table">\n';
rules.table_close = () => '</table></div>\n';
// Allows line breaks between the words of a name (`retry|After`) and the parts of a URL or a setting, so that narrow columns
// do not break them within a word.
rules.code_inline = (tokens, index) => {
  const code = escaped(tokens[index]?.content ?? '');
  return `<code>${code.replace(/\w[_/](?=\w)|[a-z](?=[A-Z])|[@,\]=](?=\S)/g, '$&<wbr>')}</code>`;
};
