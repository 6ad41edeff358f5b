import type { Page } from 'playwright-core';
import { ADMIN_KEY } from '../helper/gateway';
import { running } from '../helper/live';
import { until } from '../helper/until';
import { violations } from './browser';
import { browserTest, expectNoComplaints, useBrowsing } from './browsing';

const APOLLO = 'https://sandbox.embed.apollographql.com';
const PAGES = ['/', '/admin', '/docs', '/docs/rest', '/graphiql', '/graphql'];

const browsing = useBrowsing();

/** A page of Apollo that collects the messages of the page around it, and sends messages to that page. */
const FRAME = `<!doctype html><title>Sandbox</title><script>
  const messages = [];
  addEventListener('message', ({ data }) => messages.push(data));
  const ask = (message) => parent.postMessage(message, '*');
  ask({ name: 'ExplorerListeningForHandshake' });
</script>`;

/** Opens a page whose tab has the admin key. Every other server answers with FRAME, or with `script` if asked for a script. */
async function openWithKey(path: string, script = '', options: object = {}) {
  const opened = await browsing.open(undefined, options);
  const { page } = opened;
  await page.addInitScript(
    `if (origin === '${browsing.url}') sessionStorage.setItem('petstore-api-key', '${ADMIN_KEY}');`,
  );
  const asked: string[] = [];
  await page.route(
    (url) => url.origin !== browsing.url && url.protocol.startsWith('http'),
    (route) => {
      asked.push(route.request().url());
      return route.request().resourceType() === 'script'
        ? route.fulfill({ contentType: 'text/javascript', body: script })
        : route.fulfill({ contentType: 'text/html', body: FRAME });
    },
  );
  await page.goto(browsing.url + path);
  return { ...opened, asked };
}

/** The frame of Apollo in a page, once the page has answered its handshake. */
async function frameOf(page: Page) {
  await page.locator('iframe').waitFor();
  await until(async () => page.frames().length > 1);
  const frame = page.frames()[1];
  if (!frame) throw new Error('The page has no frame.');
  await frame.waitForFunction("messages.some(({ name }) => name === 'HandshakeResponse')");
  return frame;
}

type Frame = Awaited<ReturnType<typeof frameOf>>;

/** Sends a message from the frame. @returns the answer with this name. */
async function answerTo(frame: Frame, message: object, name: string): Promise<unknown> {
  const operationId = String(Math.random());
  await frame.evaluate(`ask(${JSON.stringify({ ...message, operationId })})`);
  const found = `messages.find((each) => each.name === '${name}' && each.operationId === '${operationId}')`;
  await frame.waitForFunction(found);
  return frame.evaluate(found);
}

const request = (operation: string, more: object = {}) => ({
  name: 'ExplorerRequest',
  endpointUrl: `${browsing.url}/graphql`,
  operation,
  ...more,
});

browserTest(
  'Sandbox is replaced by GraphiQL with a notice if Apollo is unreachable, and contacts no other server',
  async () => {
    const sandbox = await browsing.open('/graphql');
    const { page } = sandbox;
    await page.getByText('This is GraphiQL, served by this gateway: Apollo’s servers').waitFor();
    expect(sandbox.outside).toEqual([`${APOLLO}/sandbox/explorer`]);
    await page.getByRole('tab', { name: 'AvailablePets' }).waitFor();
    await page.getByRole('button', { name: /execute query/i }).click();
    await page.locator('.result-window', { hasText: 'totalCount' }).waitFor();
  },
);

browserTest('Sandbox gets the examples and the schema, and runs queries and subscriptions', async () => {
  const sandbox = await openWithKey('/graphql');
  const { page, asked } = sandbox;
  const frame = await frameOf(page);
  const options = new URL(frame.url()).searchParams;
  expect(options.get('endpoint')).toBe(`${browsing.url}/graphql`);
  expect(options.get('defaultDocument')).toContain('query AvailablePets');
  expect([...new Set(asked.map((each) => new URL(each).origin))]).toEqual([APOLLO]);

  const introspection = { introspectionRequestBody: '{"query":"{ __schema { queryType { name } } }"}' };
  expect(
    await answerTo(frame, { name: 'IntrospectionQueryWithHeaders', ...introspection }, 'SchemaResponse'),
  ).toMatchObject({ schema: { __schema: { queryType: { name: 'Query' } } } });
  const query = request('query ($id: ID!) { pet(id: $id) { name } }', { variables: { id: '1' } });
  expect(await answerTo(frame, query, 'ExplorerResponse')).toMatchObject({
    response: { data: { pet: { name: 'Rex' } }, status: 200, hasNext: false },
  });
  const subscription = {
    name: 'ExplorerSubscriptionRequest',
    protocol: 'graphql-ws',
    operation: 'subscription { petChanged { pet { name } } }',
    operationId: 'live',
  };
  await frame.evaluate(`ask(${JSON.stringify(subscription)})`);
  await until(async () => (await running(browsing.gateway)) === 1);
  await browsing.gateway.data('mutation { createPet(input: { name: "Luna", categoryId: 1 }) { id } }');
  await frame.waitForFunction("messages.some(({ name }) => name === 'ExplorerSubscriptionResponse')");
  expect(await frame.evaluate("messages.find(({ name }) => name === 'ExplorerSubscriptionResponse').response")).toEqual(
    { data: { data: { petChanged: { pet: { name: 'Luna' } } } } },
  );
  await frame.evaluate("ask({ name: 'ExplorerSubscriptionTermination' })");
  await until(async () => (await running(browsing.gateway)) === 0);
  expectNoComplaints(sandbox);
});

browserTest(
  'requests of Sandbox have the headers that the user enters there, but never the key of the tab',
  async () => {
    const pro = await browsing.gateway.createKey({ plan: 'PRO', scopes: ['READ'] });
    const { page } = await openWithKey('/graphql');
    const frame = await frameOf(page);
    const viewer = (headers?: object) =>
      answerTo(frame, request('{ viewer { plan } }', { headers }), 'ExplorerResponse');
    expect(await viewer()).toMatchObject({ response: { data: { viewer: { plan: 'FREE' } } } });
    expect(await viewer(pro.headers)).toMatchObject({ response: { data: { viewer: { plan: 'PRO' } } } });

    const create = 'mutation { createApiKey(input: { name: "stolen" }) { secret } }';
    const rejected = {
      response: { status: 401, errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
    };
    expect(await answerTo(frame, request(create), 'ExplorerResponse')).toMatchObject(rejected);
    // The frame cannot choose another path.
    const metrics = request('{ viewer { plan } }', { endpointUrl: `${browsing.url}/metrics` });
    expect(await answerTo(frame, metrics, 'ExplorerResponse')).toMatchObject({ response: { data: { viewer: {} } } });
    expect(JSON.stringify(await frame.evaluate('messages'))).not.toContain(ADMIN_KEY);
  },
);

browserTest('a script of Apollo in the frame reaches neither the key nor a page of this server', async () => {
  const { page } = await openWithKey('/graphql');
  const frame = await frameOf(page);
  const attempt = (code: string) =>
    frame.evaluate(`(async () => String(await (${code})))().catch((error) => error.name)`);
  const attempts = [
    ...['parent.sessionStorage', 'parent.localStorage', 'parent.document', 'top.location.href', 'top.performance'],
    ...['document', 'sessionStorage', 'location.href', 'performance'].map((part) => `opened.${part}`),
    "(top.location = 'https://evil.example')",
  ];
  const [popup] = await Promise.all([
    page.waitForEvent('popup'),
    frame.evaluate(`window.opened = open('${browsing.url}/'); undefined`),
  ]);
  await popup.getByRole('heading', { name: 'Your quota' }).waitFor();
  for (const code of attempts) expect([code, await attempt(code)]).toEqual([code, 'SecurityError']);
  expect(await attempt('top.opener')).toBe('null');
  expect(page.url()).toBe(`${browsing.url}/graphql`);
});

browserTest('messages of windows other than the frame are not answered', async () => {
  const { page } = await openWithKey('/graphql');
  await frameOf(page);
  await page.evaluate(
    'window.requests = 0, window.fetch = () => { window.requests += 1; return new Promise(() => {}); }',
  );
  await page.evaluate(`postMessage(${JSON.stringify(request('{ viewer { plan } }'))}, '*')`);
  await page.evaluate(`(() => {
    const other = document.createElement('iframe');
    other.src = '${APOLLO}/sandbox/other';
    document.body.append(other);
  })()`);
  await until(async () => page.frames().length > 2);
  await page.frames()[2]?.evaluate(`parent.postMessage(${JSON.stringify(request('{ viewer { plan } }'))}, '*')`);
  await page.waitForTimeout(500);
  expect(await page.evaluate('window.requests')).toBe(0);
});

browserTest.each(PAGES)('no script of another server runs on %s', async (path) => {
  const steal = 'window.stolen = JSON.stringify(sessionStorage);';
  const { page, asked } = await openWithKey(path, steal);
  await page.locator('#content, .graphiql-container, iframe').first().waitFor();
  await page.evaluate(`(() => new Promise((resolve) => {
    const script = document.createElement('script');
    script.src = 'https://embeddable-sandbox.cdn.apollographql.com/v2/embeddable-sandbox.umd.production.min.js';
    script.onload = script.onerror = resolve;
    document.head.append(script);
  }))()`);
  expect(await page.evaluate('window.stolen')).toBeUndefined();
  expect(asked.filter((each) => each.endsWith('.js'))).toEqual([]);
});

browserTest('the page of Sandbox is accessible on a desktop and on a phone, in light and dark mode', async () => {
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'])
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 390, height: 844 },
    ]) {
      const { page } = await openWithKey('/graphql', '', { colorScheme, viewport, bypassCSP: true });
      await page.getByTitle('Apollo Sandbox').waitFor();
      found.push(...(await violations(page)));
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
    }
  expect(found).toEqual([]);
});
