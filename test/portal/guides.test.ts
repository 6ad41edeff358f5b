import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gatewayDomains } from '../../src/app/domains';
import { errorsGuide } from '../../src/portal/errors-guide';
import { SYNONYMS } from '../../src/portal/guides';
import { type Gateway, startGateway } from '../helper/gateway';
import { send } from '../rest/client';

const CATALOGUE = gatewayDomains().errors;

const DOCS = join(__dirname, '..', '..', 'docs');
/** Guides for contributors, which are not served. */
const NOT_SERVED = [
  'architecture.md',
  'decisions.md',
  'dependencies.md',
  'make-it-yours.md',
  'releases.md',
  'specification.md',
];
const FILES = readdirSync(DOCS).filter((name) => name.endsWith('.md') && !NOT_SERVED.includes(name));

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const read = async (path: string) => (await send(gateway, `GET ${path}`)).text;

/** The paths of all pages in the table of contents, in order. */
async function pages(): Promise<string[]> {
  const contents = /<nav class="contents"[\s\S]*?<\/nav>/.exec(await read('/docs'))?.[0] ?? '';
  return [...contents.matchAll(/href="([^"]+)"/g)].map(([, path]) => String(path));
}

test('every guide for callers and operators is in the table of contents, and links to the previous and next guide', async () => {
  const guides = (await pages()).filter((path) => path !== '/docs/rest');
  expect([...guides].sort()).toEqual(FILES.map((file) => `/docs/${file.replace('.md', '')}`).sort());
  for (const [index, path] of guides.entries()) {
    const { status, text } = await send(gateway, `GET ${path}`);
    const [prev, next] = ['prev', 'next'].map((rel) => new RegExp(`rel="${rel}" href="([^"]+)"`).exec(text)?.[1]);
    expect([path, status, prev, next]).toEqual([path, 200, guides[index - 1], guides[index + 1]]);
    expect(text).toContain(`<a href="${path}" aria-current="page">`);
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+="|\sstyle="/);
  }
});

test('links between guides lead to pages; links to files that are not served become plain file names', async () => {
  expect(await read('/docs/limits')).not.toMatch(/href="[^"]+\.md/);
  expect(await read('/docs/graphql-clients')).toContain(
    '<span title="test/app/clients/apollo.ts, in the source">apollo.ts</span>',
  );
});

test('a guide with more than 400 words has a section for every 400 words, so that “On this page” leads into it', () => {
  const sparse = FILES.filter((file) => {
    const prose = readFileSync(join(DOCS, file), 'utf8').replace(/```[\s\S]*?```/g, '');
    const words = prose.split(/\s+/).length;
    return words > 400 && words / (prose.match(/^##/gm)?.length ?? 0) > 400;
  });
  expect(sparse).toEqual([]);
});

describe('the search', () => {
  interface Place {
    kind: string;
    title: string;
    href: string;
  }
  const places = async () => (await send(gateway, 'GET /docs/search.json')).json as Place[];

  test.each([
    ['Guide', 'Plans and limits', '/docs/limits'],
    ['Guide', 'Exploring', '/docs/getting-started#exploring'],
    ['REST', 'POST /store/orders', '/docs/rest#placeOrder'],
    ['Guide', 'RATE_LIMITED', '/docs/errors#rate_limited'],
  ])('has an entry of the kind %s: %s', async (kind, title, href) => {
    expect(await places()).toContainEqual(expect.objectContaining({ kind, title, href }));
  });

  test('has every section of every guide and every REST operation, and synonyms only for existing pages', async () => {
    const headings = FILES.flatMap(
      (file) =>
        readFileSync(join(DOCS, file), 'utf8')
          .replace(/```[\s\S]*?```/g, '')
          .match(/^#+ .+$/gm) ?? [],
    );
    const found = await places();
    expect(found.filter(({ kind }) => kind === 'Guide')).toHaveLength(headings.length);
    const operations = (await read('/openapi.json')).match(/operationId/g) ?? [];
    expect(found.filter(({ kind }) => kind === 'REST')).toHaveLength(operations.length + 1);
    const known = found.map(({ href }) => href);
    expect(known).toEqual(expect.arrayContaining(Object.keys(SYNONYMS)));
    expect(new Set(known).size).toBe(known.length);
  });
});

describe('error codes', () => {
  test('are described in docs/errors.md, and each has an anchor in the page', async () => {
    const committed = readFileSync(join(DOCS, 'errors.md'), 'utf8');
    expect(committed).toBe(errorsGuide(CATALOGUE));
    const page = await read('/docs/errors');
    for (const [code, { why }] of CATALOGUE) {
      expect(committed).toContain(`### ${code}\n\n${why}\n`);
      expect(page).toContain(`id="${code.toLowerCase()}"`);
    }
  });

  test.each([
    [400, 'BAD_REQUEST BAD_USER_INPUT GRAPHQL_PARSE_FAILED GRAPHQL_VALIDATION_FAILED OPERATION_TOO_COMPLEX'],
    [401, 'UNAUTHENTICATED'],
    [403, 'FORBIDDEN'],
    [404, 'NOT_FOUND'],
    [405, 'METHOD_NOT_ALLOWED'],
    [406, 'NOT_ACCEPTABLE'],
    [408, 'REQUEST_TIMEOUT'],
    [409, 'INSUFFICIENT_STOCK ORDER_COMPLETE CATEGORY_NOT_EMPTY PET_HAS_ORDERS IDEMPOTENCY_IN_PROGRESS'],
    [412, 'PRECONDITION_FAILED'],
    [413, 'PAYLOAD_TOO_LARGE'],
    [414, 'URI_TOO_LONG'],
    [415, 'UNSUPPORTED_MEDIA_TYPE'],
    [422, 'UNKNOWN_REFERENCE IDEMPOTENCY_MISMATCH'],
    [429, 'RATE_LIMITED KEY_BANNED'],
    [431, 'HEADERS_TOO_LARGE'],
    [500, 'INTERNAL_SERVER_ERROR'],
    [503, 'SERVICE_UNAVAILABLE'],
  ])('have the HTTP status %i: %s', (status, codes) => {
    expect(codes.split(' ').filter((code) => CATALOGUE.get(code)?.status !== status)).toEqual([]);
  });
});
