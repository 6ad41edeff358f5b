import MarkdownIt from 'markdown-it';

/** Where a piece of code is described; `undefined` if nowhere. */
export type Describes = (code: string) => string | undefined;

const markdown = new MarkdownIt();

/** A text for HTML, also inside of a quoted attribute. */
export const escaped = markdown.utils.escapeHtml;

/** Code that is described is a link to that. */
markdown.renderer.rules.code_inline = (tokens, index, _options, env) => {
  const content = tokens[index]?.content ?? '';
  const code = `<code>${escaped(content)}</code>`;
  const at = (env?.describes as Describes | undefined)?.(content);
  return at ? `<a href="${at}">${code}</a>` : code;
};

/** HTML of one line of Markdown. */
export function inline(text: string, describes?: Describes): string {
  return markdown.renderInline(text, { describes });
}

/** HTML of Markdown. */
export function prose(text: string, describes?: Describes): string {
  return markdown.render(text, { describes });
}

/** One entry of a list of fields, arguments, parameters or headers. */
export interface Row {
  readonly id?: string;
  readonly name: string;
  /** HTML. */
  readonly type: string;
  /** HTML. */
  readonly text: string;
  /** What is short enough to stand beside the name: `required`, `deprecated`. */
  readonly badges?: readonly string[];
}

/** A link to an anchor on the same page, for HTML: its `href`. */
export function anchor(id: string): string {
  return `#${escaped(encodeURI(id))}`;
}

/** A list of fields, as HTML. Those with an id are anchors. */
export function rows(list: readonly Row[]): string {
  return list.length ? `<dl class="rows">${list.map(row).join('')}</dl>` : '';
}

function row({ id, name, type, text, badges = [] }: Row): string {
  const code = `<code class="name">${escaped(name)}</code>`;
  return `<div${id ? ` id="${escaped(id)}"` : ''}><dt>${id ? `<a href="${anchor(id)}">${code}</a>` : code} <span class="type">${type}</span>${badges.map(badge).join('')}</dt><dd>${text}</dd></div>`;
}

/** A word set apart: `deprecated`, `beta`. */
export function badge(word: string): string {
  return ` <span class="badge" data-badge="${escaped(word.split(' ')[0] ?? '')}">${escaped(word)}</span>`;
}
