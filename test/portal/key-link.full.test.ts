import { Installation } from '../helper/installation';
import { browserTest, expectNoComplaints, useBrowsing } from './browsing';

const browsing = useBrowsing();

browserTest('the address that the first start prints opens the pages with the admin key', async () => {
  const installation = new Installation({ LOG_LEVEL: 'info' });
  try {
    const { url, report } = await installation.start();
    const { page } = await browsing.open();
    await page.route(`${url}/**`, (route) => route.continue());
    await page.goto(String(report['Pages with key']));
    await page.getByText('key “first admin key”, scopes: read, order, write, admin').waitFor();
    expect(page.url()).toBe(`${url}/`);
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByRole('listitem').filter({ hasText: 'first admin key' }).first().waitFor();
  } finally {
    await installation.remove();
  }
});

browserTest.each(['/', '/admin', '/docs', '/docs/rest', '/graphiql', '/graphql'])(
  'the key in the address %s#key=… is moved to the session storage before any other script runs',
  async (path) => {
    const { whole } = await browsing.gateway.createKey({ name: 'Acme', plan: 'PRO' });
    const opened = await browsing.open();
    const { page } = opened;
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.url(), request.headers().referer ?? ''));
    // Every script but the first records the address that it sees.
    await page.route(/\.js$/, async (route) => {
      if (/key(-link)?\.js$/.test(route.request().url()) || !route.request().url().startsWith(browsing.url))
        return route.fallback();
      const response = await route.fetch();
      const body = `sessionStorage.seen = (sessionStorage.seen ?? '') + location.href + ' ';\n${await response.text()}`;
      return route.fulfill({ response, body });
    });
    await page.goto('about:blank');
    await page.goto(`${browsing.url}${path}#key=${whole}`);
    // Sandbox is replaced by GraphiQL here, since Apollo cannot be reached.
    await page.waitForURL(browsing.url + (path === '/graphql' ? '/graphiql?sandbox=unreachable' : path));
    await page.waitForLoadState('networkidle');
    await page.unrouteAll({ behavior: 'wait' });
    const seen = String(await page.evaluate('sessionStorage.seen'))
      .trim()
      .split(' ');
    expect(seen.length).toBeGreaterThan(2);
    expect(await page.evaluate('sessionStorage.getItem("petstore-api-key")')).toBe(whole);
    const traces = await page.evaluate('JSON.stringify([location.href, localStorage, document.cookie, history.state])');
    for (const text of [traces, page.url(), ...seen, ...sent]) expect(text).not.toContain(whole);
    await page.goBack();
    await page.goForward();
    expect(page.url()).not.toContain(whole);
    expect(sent.join()).not.toContain(whole);
  },
);

browserTest('the key is also removed from an address that begins with two slashes', async () => {
  const { whole } = await browsing.gateway.createKey({ name: 'Acme', plan: 'PRO' });
  const { page } = await browsing.open();
  // Such a path exists only behind some proxies.
  await page.route('**//shop*', async (route) =>
    route.fulfill({ response: await route.fetch({ url: `${browsing.url}/` }) }),
  );
  await page.goto(`${browsing.url}//shop#key=${whole}`);
  await page.getByText('key “Acme”').waitFor();
  expect(page.url()).toBe(`${browsing.url}//shop`);
});

browserTest('the address works in a tab that already shows a page, too', async () => {
  const { whole } = await browsing.gateway.createKey({ name: 'Acme', plan: 'PRO' });
  const start = await browsing.open('/');
  const { page } = start;
  await page.getByText('without a key, scopes: read').waitFor();
  await page.goto(`${browsing.url}/#key=${whole}`);
  await page.getByText('key “Acme”, scopes: read, order, write').waitFor();
  expect(page.url()).toBe(`${browsing.url}/`);
  expectNoComplaints(start);
});

browserTest('an incomplete key in the address is removed and reported, and the key of the tab is kept', async () => {
  const { whole } = await browsing.gateway.createKey({ name: 'Acme', plan: 'PRO' });
  const { page } = await browsing.open(`/#key=${whole}`);
  await page.getByText('key “Acme”').waitFor();
  for (const path of ['/', '/graphiql']) {
    await page.goto(`${browsing.url}${path}#key=${whole.slice(0, -3)}`);
    await page.getByText('Its secret has 29 characters instead of 32.').waitFor();
    expect(page.url()).toBe(browsing.url + path);
    expect(await page.evaluate('sessionStorage.getItem("petstore-api-key")')).toBe(whole);
  }
});
