import { readdirSync, readFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { escaped } from './markdown';
import type { PageOptions } from './page';

/** The directory of the templates. They are not compiled, so the compiled code in `dist` also reads them from `src`. */
const DIRECTORY = join(__dirname, '..', '..', 'src', 'portal', 'pages');

const TEMPLATES = new Map(
  readdirSync(DIRECTORY).map((file) => [parse(file).name, readFileSync(join(DIRECTORY, file), 'utf8').trim()]),
);

/** The links in the top bar of every page. */
const SITE = [
  ['/docs', 'Guides'],
  ['/docs/rest', 'REST'],
  ['/docs/errors', 'Errors'],
  ['/graphql', 'Sandbox'],
  ['/graphiql', 'GraphiQL'],
  ['/admin', 'Keys'],
] as const;

/** The parts that differ between pages. `renderPage` puts them into the common template. */
export interface PageContent extends PageOptions {
  readonly path: string;
  readonly title: string;
  readonly description: string;
  readonly layout: 'sheet' | 'docs' | 'explorer' | 'explorer long';
  /**
   * The page's style sheets and scripts, by their names in `Assets`. Every page also has `key-link.js`, as its first script,
   * and `site.css`.
   */
  readonly files: readonly string[];
  /** HTML at the end of the top bar. */
  readonly tools?: string;
  /** @returns HTML with the `main` element. */
  content(): string;
}

/** Properties that are the same for all pages. */
interface Site {
  /** The name of the service. */
  readonly product: string;
  /** The path of the assets. */
  readonly assets: string;
}

/** @returns the HTML of a page. */
export function renderPage(page: PageContent, { product, assets }: Site): string {
  const { path, title, description, layout, files, tools = '' } = page;
  const tagOf = (file: string) => {
    if (file.endsWith('.css')) return `<link rel="stylesheet" href="${assets}/${file}">`;
    // The scripts of packages are classic scripts, not modules.
    return `<script src="${assets}/${file}" ${file.startsWith('vendor/') ? 'defer' : 'type="module"'}></script>`;
  };
  return fill('page', {
    title: escaped(path === '/' ? product : `${title} · ${product}`),
    home: `<a class="home row" href="/"><img src="/favicon.svg" alt="" width="28" height="28">${escaped(product)}</a>`,
    description: escaped(description),
    files: ['key-link.js', ...files, 'site.css'].map(tagOf).join('\n  '),
    layout,
    site: SITE.map(([href, label]) => link(href, label, path)).join('\n      '),
    tools,
    content: page.content(),
  });
}

/** A link, marked if it leads to the current page. */
export function link(href: string, title: string, current: string): string {
  return `<a href="${href}"${href === current ? ' aria-current="page"' : ''}>${escaped(title)}</a>`;
}

/** Returns the template in the file `pages/<name>.html`. Each comment `<!-- x -->` in it is replaced by `parts.x`. */
export function fill(name: string, parts: Readonly<Record<string, string>> = {}): string {
  return String(TEMPLATES.get(name)).replace(/<!-- (\w+) -->/g, (_, part: string) => parts[part] ?? '');
}
