import type { Group, Link } from './contents';
import { escaped } from './html';
import type { Library, ShownGuide } from './library';

/** The parts of `guide.html` that are filled in, by the names of their comments. */
type Parts = Readonly<Record<'title' | 'description' | 'navigation' | 'content', string>> & {
  readonly outline?: string;
  readonly neighbours?: string;
};

type Contents = Pick<Library, 'groups'>;

/** The template with its parts; nothing is left of those that it does not get. */
export function filled(template: string, parts: Parts): string {
  return template.replace(/<!-- (\w+) -->/g, (_, name: string) => parts[name as keyof Parts] ?? '');
}

/** The navigation, with the page that is shown marked. */
function navigation({ groups }: Contents, current: string): string {
  const link = ({ title, href }: Link) =>
    `<li><a href="${href}"${href === current ? ' aria-current="page"' : ''}>${escaped(title)}</a></li>`;
  return groups
    .map(({ title, entries }) => `<h2>${escaped(title)}</h2>\n<ul>${entries.map(link).join('\n')}</ul>`)
    .join('\n');
}

export function guideParts(library: Library, guide: ShownGuide): Parts {
  return {
    title: escaped(guide.title),
    description: escaped(guide.summary),
    navigation: navigation(library, guide.href),
    content: guide.parsed().html(),
    outline: outline(guide),
    neighbours: neighbours(guide),
  };
}

/** The parts of the page that introduces all guides. */
export function overviewParts({ groups }: Contents): Parts {
  return {
    title: 'Documentation',
    description: 'Guides and references of the petstore gateway.',
    navigation: navigation({ groups }, '/docs'),
    content: `<h1>Documentation</h1>\n<p>Guides for those who call the petstore and for those who run it, and the references of both interfaces.</p>\n${cards(groups)}`,
  };
}

/** The parts of the page for addresses that have none. */
export function missingParts({ groups }: Contents): Parts {
  return {
    title: 'No such page',
    description: 'There is no page at this address.',
    navigation: navigation({ groups }, ''),
    content: `<h1>No such page</h1>\n<p>There is nothing at this address. Search above, begin at the <a href="/">start</a>, or choose a page:</p>\n${cards(groups)}`,
  };
}

function cards(groups: readonly Group[]): string {
  const card = (entry: Link) => {
    const summary = entry.summary ? `<span>${escaped(entry.summary)}</span>` : '';
    return `<li><a href="${entry.href}"><strong>${escaped(entry.title)}</strong>${summary}</a></li>`;
  };
  return groups
    .map(
      ({ title, entries }) => `<h2>${escaped(title)}</h2>\n<ul class="overview">${entries.map(card).join('\n')}</ul>`,
    )
    .join('\n');
}

function outline({ parsed }: ShownGuide): string {
  const shown = parsed().sections.filter(({ level }) => level === 2 || level === 3);
  if (shown.length < 2) return '';
  const entries = shown.map(
    ({ id, text, level }) => `<li class="level-${level}"><a href="#${id}">${escaped(text)}</a></li>`,
  );
  return `<nav class="outline" aria-label="On this page"><h2>On this page</h2><ul>${entries.join('\n')}</ul></nav>`;
}

function neighbours({ previous, next }: ShownGuide): string {
  const link = (to: Link | undefined, rel: string, says: string) =>
    to ? `<a rel="${rel}" href="${to.href}"><span>${says}</span> ${escaped(to.title)}</a>` : '<span></span>';
  return `<nav class="neighbours" aria-label="Neighbouring pages">${link(previous, 'prev', 'Previous')}${link(next, 'next', 'Next')}</nav>`;
}
