import MarkdownIt from 'markdown-it';
import { breakable } from './breakable';
import { highlighted } from './highlight';
import { escaped } from './html';

type Token = MarkdownIt.Token;

export interface Heading {
  /** 1 to 6. */
  readonly level: number;
  /** As GitHub writes it, so that the same link works there. */
  readonly id: string;
  readonly text: string;
}

/** A heading with the text up to the next one. */
export interface Section extends Heading {
  readonly content: string;
}

export interface Parsed {
  readonly sections: readonly Section[];
  /** Renders the page, which takes much longer than to parse it. */
  html(): string;
}

/** Where a page's links and pictures lead. */
export interface Targets {
  /** The URL for a link as it is in the file; `undefined` for what this server does not have. */
  link(href: string): string | undefined;
  /** The URL of a picture of this name, such as `images/start.png`. */
  picture(name: string): string;
  /** The name of the picture of the n-th diagram, from 1. */
  diagram(n: number): string;
}

// What is rendered is committed with the project: it may hold HTML.
const markdown = new MarkdownIt({ html: true });

/** Reads a page of Markdown. */
export function parse(text: string, targets: Targets): Parsed {
  const tokens = markdown.parse(text, {});
  const sections = readSections(tokens);
  let diagrams = 0;
  for (const token of tokens) {
    retarget(token.children ?? [], targets);
    // How a column is aligned: the page's policy allows no styles in HTML.
    if (token.attrGet('style') === 'text-align:right') token.attrs = [['class', 'right']];
    else if (token.attrGet('style')) token.attrs = null;
    if (token.type === 'fence' && token.info === 'mermaid')
      token.attrSet('src', targets.picture(targets.diagram(++diagrams)));
  }
  return { sections, html: () => markdown.renderer.render(tokens, markdown.options, {}) };
}

/** The sections of a page. Headings get their anchors, and what can scroll the name of its section. */
function readSections(tokens: readonly Token[]): Section[] {
  const sections: (Heading & { content: string })[] = [];
  const ids = new Map<string, number>();
  for (const [index, token] of tokens.entries()) {
    const section = sections.at(-1);
    if (token.type === 'heading_open') {
      const text = plain(tokens[index + 1]);
      const id = unique(slug(text), ids);
      for (const each of [token, tokens[index + 2]]) if (each) each.meta = { id, text };
      sections.push({ level: Number(token.tag.slice(1)), id, text, content: '' });
    } else if (section) {
      token.meta ??= { text: section.text };
      if (tokens[index - 1]?.type !== 'heading_open') section.content += `${plain(token)} `;
    }
  }
  return sections.map((section) => ({ ...section, content: section.content.replace(/\s+/g, ' ').trim() }));
}

/** The text of a block, without its markup. */
function plain(token: Token | undefined): string {
  if (token?.type === 'fence') return token.info === 'mermaid' ? '' : token.content;
  const text = token?.children?.map(({ type, content }) =>
    /break$/.test(type) ? ' ' : type === 'html_inline' ? '' : content,
  );
  return text?.join('') ?? '';
}

/** An anchor as GitHub makes it from a heading. */
function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}

function unique(id: string, ids: Map<string, number>): string {
  const before = ids.get(id) ?? 0;
  ids.set(id, before + 1);
  return before ? `${id}-${before}` : id;
}

/** Gives links and pictures their URLs here; what this server does not have is only named. */
function retarget(tokens: readonly Token[], targets: Targets): void {
  let tag = 'a';
  for (const token of tokens) {
    if (token.type === 'image') token.attrSet('src', targets.picture(String(token.attrGet('src'))));
    if (token.type === 'link_close') token.tag = tag;
    if (token.type !== 'link_open') continue;
    const href = String(token.attrGet('href'));
    const url = targets.link(href);
    tag = url ? 'a' : 'span';
    token.tag = tag;
    const source = `${href.replace(/^(\.\.?\/)+/, '')}, in the source`;
    token.attrs = Object.entries(url ? { href: url } : { class: 'source', title: source });
  }
}

const { rules } = markdown.renderer;

rules.heading_open = (tokens, index) => `<${tokens[index]?.tag} id="${tokens[index]?.meta?.id}">`;
rules.heading_close = (tokens, index) => {
  const { tag, meta } = tokens[index] as Token;
  const link = `<a class="anchor" href="#${meta?.id}" aria-label="Link to “${titleOf(tokens[index])}”">#</a>`;
  return `${tag === 'h1' ? '' : link}</${tag}>\n`;
};
// What is too wide scrolls by itself, with the keyboard as well.
rules.table_open = (tokens, index) => `<div class="table" ${scrolls('Table', tokens[index])}><table>\n`;
rules.table_close = () => '</table></div>\n';
// The corner of a table with headings on two sides heads nothing.
rules.th_open = (tokens, index, options, _env, self) => {
  const [open, text, close] = tokens.slice(index, index + 3);
  if (open && close && text?.content === '') open.tag = close.tag = 'td';
  return self.renderToken(tokens, index, options);
};
rules.code_inline = (tokens, index) => `<code>${breakable(tokens[index]?.content ?? '')}</code>`;
rules.fence = (tokens, index) => {
  const token = tokens[index] as Token;
  const { content } = token;
  // `sh no-run` is a shell's, and left out by the tests.
  const [language = ''] = token.info.split(' ');
  const picture = token.attrGet('src');
  if (picture)
    return `<div class="diagram" ${scrolls('Diagram', token)}><img src="${picture}" alt="Diagram: ${titleOf(token)}"></div>\n`;
  const code = highlighted(content, language);
  return `<pre class="code" ${scrolls('Code', token)} data-language="${escaped(language)}"><code>${code}</code></pre>\n`;
};

function scrolls(what: string, token: Token | undefined): string {
  return `role="group" tabindex="0" aria-label="${what}: ${titleOf(token)}"`;
}

/** The title of the section, for HTML. */
function titleOf(token: Token | undefined): string {
  return escaped(String(token?.meta?.text ?? ''));
}
