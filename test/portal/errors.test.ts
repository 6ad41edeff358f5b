import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES, ERRORS } from '../../src/errors/error-codes';
import { printedSchema } from '../../src/graphql/printed-schema';
import { errorsAsMarkdown } from '../../src/portal/reference/error-reference';
import { type Gateway, startGateway } from '../helper/gateway';
import { send } from '../rest/client';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ ANONYMOUS_ACCESS: 'none' });
});
afterAll(() => gateway.close());

describe('/docs/errors', () => {
  test('has each code under its status, with why it comes and what to do', async () => {
    const { status, headers, text } = await send(gateway, 'GET /docs/errors');
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect([...text.matchAll(/<article [^>]*id="(\w+)">/g)].map(([, id]) => id)).toEqual(
      ERROR_CODES.map((code) => code.toLowerCase()),
    );
    expect(text).toContain('>409 Conflict</h2>');
    for (const code of ERROR_CODES) {
      const [, article = ''] = text.split(`<article class="entry" id="${code.toLowerCase()}"`);
      const shown = article.slice(0, article.indexOf('</article>')).replace(/<\/?(code|strong)>/g, '');
      expect(shown).toContain(`<p id="${code}">${shownIn(ERRORS[code].why)}</p>`);
      expect(shown).toContain(`<p>What to do: ${shownIn(ERRORS[code].fix)}</p>`);
      expect(shown).toContain(`“${shownIn(ERRORS[code].message)}”`);
    }
  });

  test('loads everything from this server', async () => {
    const { text, headers } = await send(gateway, 'GET /docs/errors');
    expect(headers['content-security-policy']).not.toMatch(/https?:/);
    const urls = [...text.matchAll(/<(?:link|img|script) [^>]*(?:href|src)="([^"]+)"/g)].map(([, url]) => String(url));
    expect(urls.length).toBeGreaterThan(3);
    for (const url of urls) expect([url, (await send(gateway, `GET ${url}`)).status]).toEqual([url, 200]);
  });

  test('is linked from the other pages', async () => {
    for (const page of ['/', '/docs/rest', '/docs/graphql'])
      expect((await send(gateway, `GET ${page}`)).text).toMatch(/<a [^>]*href="\/docs\/errors"/);
  });
});

test('docs/errors.md is what the code prints (`npm run schema` writes it), and has each code', () => {
  const committed = readFileSync(join(__dirname, '..', '..', 'docs', 'errors.md'), 'utf8');
  expect(committed).toBe(errorsAsMarkdown());
  for (const code of ERROR_CODES) expect(committed).toContain(`### ${code}\n\n${ERRORS[code].why}\n`);
});

test("the contract's codes have their statuses", () => {
  const STATUSES: Record<number, string> = {
    400: 'BAD_REQUEST BAD_USER_INPUT GRAPHQL_PARSE_FAILED GRAPHQL_VALIDATION_FAILED OPERATION_TOO_COMPLEX',
    401: 'UNAUTHENTICATED',
    403: 'FORBIDDEN',
    404: 'NOT_FOUND',
    405: 'METHOD_NOT_ALLOWED',
    406: 'NOT_ACCEPTABLE',
    408: 'REQUEST_TIMEOUT',
    409: 'INSUFFICIENT_STOCK ORDER_COMPLETE CATEGORY_NOT_EMPTY PET_HAS_ORDERS IDEMPOTENCY_IN_PROGRESS',
    412: 'PRECONDITION_FAILED',
    413: 'PAYLOAD_TOO_LARGE',
    414: 'URI_TOO_LONG',
    415: 'UNSUPPORTED_MEDIA_TYPE',
    422: 'UNKNOWN_REFERENCE IDEMPOTENCY_MISMATCH',
    429: 'RATE_LIMITED KEY_BANNED',
    431: 'HEADERS_TOO_LARGE',
    500: 'INTERNAL_SERVER_ERROR',
    503: 'SERVICE_UNAVAILABLE',
  };
  const statuses = Object.fromEntries(ERROR_CODES.map((code) => [code, ERRORS[code].status]));
  for (const [status, codes] of Object.entries(STATUSES))
    for (const code of codes.split(' ')) expect([code, statuses[code]]).toEqual([code, Number(status)]);
});

describe('/schema.graphql', () => {
  test('is the schema with its directives, free of quota, whoever asks', async () => {
    const { status, headers, text } = await send(gateway, 'GET /schema.graphql', undefined, { 'x-api-key': undefined });
    expect([status, headers['content-type'], text]).toEqual([
      200,
      'application/graphql; charset=utf-8',
      printedSchema(),
    ]);
    expect(headers['x-ratelimit-remaining']).toBe(headers['x-ratelimit-limit']);
    const again = await send(gateway, 'GET /schema.graphql', undefined, { 'if-none-match': headers.etag });
    expect(again.status).toBe(304);
    expect(await send(gateway, 'POST /schema.graphql')).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, OPTIONS' },
    });
  });

  test('is linked from the pages', async () => {
    for (const page of ['/', '/docs/rest', '/docs/graphql', '/docs/errors'])
      expect((await send(gateway, `GET ${page}`)).text).toMatch(/<a [^>]*href="\/schema.graphql"/);
  });
});

/** A text as HTML shows it, without its only markup. */
function shownIn(text: string): string {
  return text.replaceAll('`', '').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
