import { type Entry, type Group, type Guide, guidesOf } from './guides';
import { escaped } from './markdown';
import { fill, link, type PageContent } from './templates';

export function guidePage(groups: readonly Group[], guide: Guide): PageContent {
  return pageOf(groups, guide, () => ({
    content: guide.parsed().html(),
    neighbours: neighbours(guidesOf(groups), guide),
    outline: outline(guide),
  }));
}

/** The page at `/docs`, with a card for each guide. */
export function overviewPage(groups: readonly Group[]): PageContent {
  const summary = 'Guides for callers and operators, and the reference of the REST interface.';
  return pageOf(groups, { title: 'Documentation', href: '/docs', summary }, () => ({
    content: `<h1>Documentation</h1>\n<p>${summary}</p>\n${cards(groups)}`,
  }));
}

/** The page for browsers at unknown paths. */
export function missingPage(groups: readonly Group[]): PageContent {
  const summary = 'There is no page at this address.';
  const page = pageOf(groups, { title: 'No such page', href: '', summary }, () => ({
    content: `<h1>No such page</h1>\n<p>${summary} Search, go to the <a href="/">start page</a>, or choose a guide:</p>\n${cards(groups)}`,
  }));
  return { ...page, status: 404 };
}

function pageOf(groups: readonly Group[], page: Entry, parts: () => Record<string, string>): PageContent {
  return {
    path: page.href,
    title: page.title,
    description: page.summary,
    layout: 'docs',
    files: ['guide.js'],
    tools: fill('search-button'),
    content: () => fill('guide', { ...parts(), navigation: navigation(groups, page.href) }),
  };
}

/** Links to all pages of the documentation. The link to the current page is marked. */
function navigation(groups: readonly Group[], current: string): string {
  const item = ({ title, href }: Entry) => `<li>${link(href, title, current)}</li>`;
  return groups.map(({ title, entries }) => `<h2>${title}</h2>\n<ul>${entries.map(item).join('\n')}</ul>`).join('\n');
}

function cards(groups: readonly Group[]): string {
  const card = ({ title, href, summary }: Entry) =>
    `<li><a class="card" href="${href}"><strong>${escaped(title)}</strong><span>${escaped(summary)}</span></a></li>`;
  return groups
    .map(({ title, entries }) => `<h2>${title}</h2>\n<ul class="tiles">${entries.map(card).join('\n')}</ul>`)
    .join('\n');
}

/** Links to the sections of a page; empty if there are fewer than two. */
function outline({ parsed }: Guide): string {
  const entries = parsed()
    .sections.filter(({ level }) => level === 2 || level === 3)
    .map(({ id, title, level }) => `<li class="level-${level}"><a href="#${id}">${escaped(title)}</a></li>`);
  if (entries.length < 2) return '';
  return `<nav class="outline" aria-label="On this page"><h2>On this page</h2><ul>${entries.join('\n')}</ul></nav>`;
}

function neighbours(guides: readonly Guide[], guide: Guide): string {
  const index = guides.indexOf(guide);
  const linkTo = (to: Entry | undefined, rel: string, label: string) =>
    to
      ? `<a class="card" rel="${rel}" href="${to.href}"><span>${label}</span> <strong>${escaped(to.title)}</strong></a>`
      : '<span></span>';
  return `<nav class="tiles" aria-label="Neighbouring pages">${linkTo(guides[index - 1], 'prev', 'Previous')}${linkTo(guides[index + 1], 'next', 'Next')}</nav>`;
}
