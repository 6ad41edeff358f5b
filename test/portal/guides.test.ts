import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ALSO_CALLED, FOUND_LAST } from '../../src/portal/search-words';
import { type Gateway, startGateway } from '../helper/gateway';
import { send } from '../rest/client';

const DOCS = join(__dirname, '..', '..', 'docs');
/** REST, GraphQL and errors: pages that are no guides. */
const REFERENCES = 3;
const FILES = readdirSync(DOCS).filter((name) => name.endsWith('.md'));

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const read = async (path: string) => (await send(gateway, `GET ${path}`)).text;

/** The paths of all pages that the navigation names, in its order. */
async function pages(): Promise<string[]> {
  const navigation = /<nav class="contents"[\s\S]*?<\/nav>/.exec(await read('/docs'))?.[0] ?? '';
  return [...navigation.matchAll(/href="([^"]+)"/g)].map(([, path]) => String(path));
}

test('every page of docs/ is in the navigation, and is served', async () => {
  const paths = await pages();
  for (const file of FILES) expect(paths).toContain(`/docs/${file.replace('.md', '')}`);
  const statuses = await Promise.all(paths.map(async (path) => [path, (await send(gateway, `GET ${path}`)).status]));
  expect(statuses).toEqual(paths.map((path) => [path, 200]));
});

test('no guide has scripts or styles in its HTML, which its policy would refuse', async () => {
  for (const path of (await pages()).filter((each) => each !== '/docs/rest'))
    expect(await read(path)).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+="|\sstyle="/);
});

test('every link of every page leads to something that is there', async () => {
  const known = new Map<string, string>();
  const textOf = async (path: string) => {
    if (!known.has(path)) {
      const { status, text } = await send(gateway, `GET ${path}`, undefined, { accept: 'text/html, */*' });
      known.set(path, status === 200 ? text : `missing: ${status}`);
    }
    return String(known.get(path));
  };
  const broken: string[] = [];
  for (const page of ['/docs', ...(await pages())]) {
    const html = await textOf(page);
    for (const [, href = ''] of html.matchAll(/(?:href|src)="([^"]+)"/g)) {
      if (/^https?:/.test(href)) continue;
      const url = new URL(href, `http://gateway${page}`);
      const target = await textOf(url.pathname);
      const anchor = decodeURIComponent(url.hash.slice(1));
      // The REST reference finds its own anchors.
      const isThere = !anchor || url.pathname === '/docs/rest' || target.includes(`id="${anchor}"`);
      if (target.startsWith('missing') || !isThere) broken.push(`${page}: ${href}`);
    }
  }
  expect(broken).toEqual([]);
});

test('a page leads to those before and after it', async () => {
  const paths = (await pages()).filter((path) => !['/docs/rest', '/docs/graphql', '/docs/errors'].includes(path));
  for (const [index, path] of paths.entries()) {
    const html = await read(path);
    expect(/rel="prev" href="([^"]+)"/.exec(html)?.[1]).toBe(paths[index - 1]);
    expect(/rel="next" href="([^"]+)"/.exec(html)?.[1]).toBe(paths[index + 1]);
    expect(html).toContain(`<a href="${path}" aria-current="page">`);
  }
});

test('links that work on GitHub work here, and files that are only in the source are named', async () => {
  const page = await read('/docs/limits');
  expect(page).not.toMatch(/href="[^"]+\.md/);
  expect(await read('/docs/graphql-clients')).toContain(
    '<span class="source" title="test/app/clients/apollo.ts, in the source">apollo.ts</span>',
  );
});

test('the search knows every section, every operation of both interfaces, and every error', async () => {
  const { headers, json } = await send(gateway, 'GET /docs/search.json');
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  const places = json as { kind: string; title: string; within: string; href: string; text: string }[];
  const find = (kind: string, title: string) => places.find((place) => place.kind === kind && place.title === title);
  expect(find('Guide', 'Plans and limits')).toMatchObject({ href: '/docs/limits' });
  expect(find('Guide', 'Exploring')).toMatchObject({ href: '/docs/getting-started#exploring' });
  expect(find('REST', 'POST /store/orders')).toMatchObject({ text: expect.stringContaining('order') });
  expect(find('GraphQL', 'placeOrder')).toMatchObject({ within: 'Mutation' });
  expect(find('GraphQL', 'PetStatus')).toMatchObject({ text: expect.stringContaining('available, pending, sold') });
  expect(find('REST', 'cursor')).toMatchObject({ href: '/docs/rest#parameter-cursor' });
  expect(find('Setting', 'BAN_AFTER')).toMatchObject({ href: '/docs/configuration#callers' });
  expect(find('Error', 'RATE_LIMITED')).toMatchObject({ href: '/docs/errors#rate_limited', within: '429' });
  const headings = FILES.filter((file) => file !== 'errors.md').flatMap(
    (file) =>
      readFileSync(join(DOCS, file), 'utf8')
        .replace(/```[\s\S]*?```/g, '')
        .match(/^#+ .+$/gm) ?? [],
  );
  const guides = places.filter(
    ({ kind, href }) => kind === 'Guide' && !/changelog|contributing|security|bench/.test(href),
  );
  expect(guides).toHaveLength(headings.length + REFERENCES);
});

test('other words for a subject lead to a place that is there', async () => {
  const places = (await send(gateway, 'GET /docs/search.json')).json as { href: string }[];
  const known = new Set(places.map(({ href }) => href));
  expect(Object.keys(ALSO_CALLED).filter((href) => !known.has(href))).toEqual([]);
  expect(FOUND_LAST.filter((name) => !known.has(`/docs/${name}`))).toEqual([]);
});

test('a page that a browser has is not sent again', async () => {
  const { headers } = await send(gateway, 'GET /docs/limits');
  const again = await send(gateway, 'GET /docs/limits', undefined, { 'if-none-match': String(headers.etag) });
  expect([again.status, again.text]).toEqual([304, '']);
});

test.each(['/docs', '/docs/limits', '/docs/search.json'])('%s costs no quota, and says what is left', async (path) => {
  const before = await send(gateway, `GET ${path}`);
  const after = await send(gateway, `GET ${path}`);
  expect(after.headers['x-ratelimit-remaining']).toBe(before.headers['x-ratelimit-remaining']);
  expect(after.headers['ratelimit-policy']).toMatch(/^"minute"/);
});

test('there is no page of another name', async () => {
  expect((await send(gateway, 'GET /docs/nothing')).status).toBe(404);
  expect((await send(gateway, 'GET /docs/..%2fpackage')).status).toBe(404);
});
