import type { Assets } from '../assets';
import { escaped } from './html';

/** A part of a reference: a heading with its entries, each of which is an anchor. */
export interface Part {
  readonly id: string;
  readonly title: string;
  /** HTML between the heading and the entries. */
  readonly lead?: string;
  readonly entries: readonly Entry[];
}

/** An operation or a type. */
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

/** A reference as an HTML page: contents beside, everything on one page, so that the browser's search finds it. */
export function referenceHtml(assets: Assets, { title, description, introduction, parts, example }: Reference): string {
  const values: Readonly<Record<string, string>> = {
    title: escaped(title),
    description: escaped(description),
    example: escaped(example),
    contents: parts.map(contentsOf).join(''),
    main: introduction + parts.map(partHtml).join(''),
  };
  return assets.page('reference.html').replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '');
}

function contentsOf({ id, title, entries }: Part): string {
  const items = entries.map((entry) => `<li><a href="${hash(entry.id)}">${entry.label}</a></li>`);
  return `<p><a href="${hash(id)}">${escaped(title)}</a></p><ul>${items.join('')}</ul>`;
}

function partHtml({ id, title, lead = '', entries }: Part): string {
  const articles = entries.map(
    (entry) =>
      `<article class="card entry" id="${escaped(entry.id)}"><h3><a href="${hash(entry.id)}">${entry.title}</a></h3>${entry.body}</article>`,
  );
  return `<section class="part" aria-labelledby="${id}"><h2 id="${id}">${escaped(title)}</h2>${lead}${articles.join('')}</section>`;
}

function hash(id: string): string {
  return `#${escaped(encodeURI(id))}`;
}
