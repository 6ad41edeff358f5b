import { escaped } from '../guides/escaped';

/** Where a piece of code is described; `undefined` if nowhere. */
export type Describes = (code: string) => string | undefined;

/** HTML of one line of Markdown, whose only markup is `code`, which becomes a link if it is described, and **strong**. */
export function inline(text: string, describes: Describes = () => undefined): string {
  return escaped(text)
    .replace(/`([^`]*)`/g, (_, code: string) => {
      const at = describes(code);
      return at ? `<a href="${at}"><code>${code}</code></a>` : `<code>${code}</code>`;
    })
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');
}

/** HTML of Markdown with paragraphs and lists. */
export function prose(text: string, describes?: Describes): string {
  const blocks = text.split(/\n{2,}/).filter(Boolean);
  return blocks
    .map((block) => {
      if (!block.startsWith('- ')) return `<p>${inline(block, describes)}</p>`;
      const items = block.split(/\n?^- /m).filter(Boolean);
      return `<ul>${items.map((item) => `<li>${inline(item, describes)}</li>`).join('')}</ul>`;
    })
    .join('');
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
  readonly marks?: readonly string[];
}

/** A list of fields, as HTML. Those with an id are anchors. */
export function rows(list: readonly Row[]): string {
  return list.length ? `<dl class="rows">${list.map(row).join('')}</dl>` : '';
}

function row({ id, name, type, text, marks = [] }: Row): string {
  const code = `<code class="name">${escaped(name)}</code>`;
  return `<div${id ? ` id="${escaped(id)}"` : ''}><dt>${id ? `<a href="#${escaped(encodeURI(id))}">${code}</a>` : code} <span class="type">${type}</span>${marks.map(mark).join('')}</dt><dd>${text}</dd></div>`;
}

/** A word set apart: `deprecated`, `beta`. */
export function mark(word: string): string {
  return ` <span class="mark" data-mark="${escaped(word.split(' ')[0] ?? '')}">${escaped(word)}</span>`;
}
