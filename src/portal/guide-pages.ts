import { type Entry, type Group, type Guide, guidesOf } from './guides';
import { escaped } from './markdown';

/** The parts of `guide.html` by the names of their comments. */
export type Parts = Readonly<Record<string, string>>;

/** The template with its parts; comments without a part are removed. */
export function fill(template: string, parts: Parts): string {
  return template.replace(/<!-- (\w+) -->/g, (_, name: string) => parts[name] ?? '');
}

export function guideParts(groups: readonly Group[], guide: Guide): Parts {
  return {
    title: escaped(guide.title),
    description: escaped(guide.summary),
    navigation: navigation(groups, guide.href),
    content: guide.parsed().html(),
    outline: outline(guide),
    neighbours: neighbours(guidesOf(groups), guide),
  };
}

/** The page that introduces all guides. */
export function overviewParts(groups: readonly Group[]): Parts {
  return {
    title: 'Documentation',
    description: 'Guides of the petstore gateway, and the reference of its REST interface.',
    navigation: navigation(groups, '/docs'),
    content: `<h1>Documentation</h1>\n<p>Guides for callers and operators, and the reference of REST.</p>\n${cards(groups)}`,
  };
}

/** The page for unknown addresses below /docs. */
export function missingParts(groups: readonly Group[]): Parts {
  return {
    title: 'No such page',
    description: 'There is no page at this address.',
    navigation: navigation(groups, ''),
    content: `<h1>No such page</h1>\n<p>There is nothing at this address. Search, go to the <a href="/">start page</a>, or choose a guide:</p>\n${cards(groups)}`,
  };
}

/** All pages, with the current one marked. */
function navigation(groups: readonly Group[], current: string): string {
  const link = ({ title, href }: Entry) =>
    `<li><a href="${href}"${href === current ? ' aria-current="page"' : ''}>${escaped(title)}</a></li>`;
  return groups.map(({ title, entries }) => `<h2>${title}</h2>\n<ul>${entries.map(link).join('\n')}</ul>`).join('\n');
}

function cards(groups: readonly Group[]): string {
  const card = ({ title, href, summary }: Entry) =>
    `<li><a href="${href}"><strong>${escaped(title)}</strong><span>${escaped(summary)}</span></a></li>`;
  return groups
    .map(({ title, entries }) => `<h2>${title}</h2>\n<ul class="overview">${entries.map(card).join('\n')}</ul>`)
    .join('\n');
}

/** The sections of a page. */
function outline({ parsed }: Guide): string {
  const entries = parsed()
    .sections.filter(({ level }) => level === 2 || level === 3)
    .map(({ id, title, level }) => `<li class="level-${level}"><a href="#${id}">${escaped(title)}</a></li>`);
  if (entries.length < 2) return '';
  return `<nav class="outline" aria-label="On this page"><h2>On this page</h2><ul>${entries.join('\n')}</ul></nav>`;
}

function neighbours(guides: readonly Guide[], guide: Guide): string {
  const index = guides.indexOf(guide);
  const link = (to: Entry | undefined, rel: string, label: string) =>
    to ? `<a rel="${rel}" href="${to.href}"><span>${label}</span> ${escaped(to.title)}</a>` : '<span></span>';
  return `<nav class="neighbours" aria-label="Neighbouring pages">${link(guides[index - 1], 'prev', 'Previous')}${link(guides[index + 1], 'next', 'Next')}</nav>`;
}
