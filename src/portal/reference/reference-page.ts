import type { Assets } from '../assets';
import { filled } from '../guide-page';
import { anchor, escaped } from '../html';

/** A part of a reference: a heading with its entries, each of which is an anchor. */
export interface Part {
  readonly id: string;
  readonly title: string;
  /** HTML between the heading and the entries. */
  readonly lead?: string;
  readonly entries: readonly Entry[];
}

/** An operation, a type, an error. */
export interface Entry {
  readonly id: string;
  /** HTML: how the contents name it. */
  readonly label: string;
  /** HTML: its heading. */
  readonly title: string;
  /** HTML. */
  readonly body: string;
}

export interface Reference {
  readonly title: string;
  /** One sentence, for search engines. */
  readonly description: string;
  /** HTML above the first part. */
  readonly introduction: string;
  readonly parts: readonly Part[];
  /** What one may look for. */
  readonly example: string;
}

const HEAD = `<link rel="stylesheet" href="/assets/reference.css">
  <script src="/assets/reference.js" type="module"></script>`;

/** The template of the guides, with what references load beside it. */
export function referenceTemplate(assets: Assets): string {
  return assets.page('guide.html').replace('<!-- head -->', HEAD.replaceAll('/assets', assets.path));
}

/** A reference as an HTML page: all on one page, so that the browser's search finds it, with its contents beside. */
export function referenceHtml(template: string, reference: Reference): string {
  const { title, description, introduction, parts, example } = reference;
  const filter = `<search class="filter" hidden>
      <input id="filter" type="search" aria-label="Filter" autocomplete="off" spellcheck="false" placeholder="Filter: ${escaped(example)}">
      <p id="found" role="status"></p></search>`;
  return filled(template, {
    title: escaped(title),
    description: escaped(description),
    navigation: filter + parts.map(contentsOf).join(''),
    content: `<div class="reference"><h1>${escaped(title)}</h1>${introduction}${parts.map(partHtml).join('')}</div>`,
  });
}

function contentsOf({ id, title, entries }: Part): string {
  const items = entries.map((entry) => `<li><a href="${anchor(entry.id)}">${entry.label}</a></li>`);
  return `<div class="listed"><h2><a href="${anchor(id)}">${escaped(title)}</a></h2><ul>${items.join('')}</ul></div>`;
}

function partHtml({ id, title, lead = '', entries }: Part): string {
  const articles = entries.map(
    (entry) =>
      `<article class="entry" id="${escaped(entry.id)}"><h3><a href="${anchor(entry.id)}">${entry.title}</a></h3>${entry.body}</article>`,
  );
  return `<section class="part" aria-labelledby="${id}"><h2 id="${id}">${escaped(title)}</h2>${lead}${articles.join('')}</section>`;
}
