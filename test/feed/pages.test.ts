import { statement } from '../../src/database/statement';
import { fillShop, truncate } from '../helper/database';
import { type Gateway, type Json, makeAdminKey, startGateway } from '../helper/gateway';
import { type Answer, ask, type Headers } from '../http/client';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({});
});
beforeEach(async () => {
  await truncate(gateway.database);
  await makeAdminKey(gateway.database);
  await fillShop(gateway.database);
  await gateway.database.serviceSession().query(statement('delete from events'), []);
});
afterAll(() => gateway.close());

interface Page {
  said: string[];
  cursors: string[];
  hasNextPage: boolean;
  hasPreviousPage: boolean;
  startCursor: string | null;
  endCursor: string;
}

const QUERY = `query ($after: String, $first: Int, $topics: [EventTopic!], $kinds: [EventKind!]) {
  events(after: $after, first: $first, topics: $topics, kinds: $kinds) {
    nodes { id at topic kind objectId requestId actor }
    edges { cursor node { id cursor } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;

async function page(variables: object = {}): Promise<Page> {
  const { events } = await gateway.data(QUERY, variables);
  const nodes = events?.nodes as unknown as Json[];
  const edges = events?.edges as unknown as { cursor: string; node: { cursor: string } }[];
  expect(edges.map(({ node }) => node.cursor)).toEqual(edges.map(({ cursor }) => cursor));
  return {
    said: nodes.map(({ topic, kind, objectId }) => `${topic} ${kind} ${objectId}`),
    cursors: edges.map(({ cursor }) => cursor),
    ...(events?.pageInfo as unknown as Omit<Page, 'said' | 'cursors'>),
  };
}

const rename = (...names: string[]) =>
  gateway.data(`mutation { ${names.map((name, i) => `a${i}: updatePet(id: 1, input: { name: "${name}" }) { id }`)} }`);
const UPDATED = 'PET UPDATED 1';

describe('a page of the feed', () => {
  test('has all changes whose responses were sent before, oldest first, and a cursor to go on', async () => {
    expect(await page()).toMatchObject({ said: [], hasNextPage: false, startCursor: null });
    await gateway.data('mutation { createCategory(input: { name: "Fish" }) { id } }');
    await gateway.data('mutation { createPet(input: { name: "Nemo", categoryId: 3 }) { id } }');
    await gateway.data('mutation { placeOrder(input: { petId: 1, quantity: 1 }) { id } }');
    const first = await page();
    expect(first.said).toEqual(['CATEGORY CREATED 3', 'PET CREATED 4', 'ORDER CREATED 2', 'INVENTORY UPDATED 1']);
    expect(first).toMatchObject({ hasNextPage: false, hasPreviousPage: false, endCursor: first.cursors[3] });
    await rename('Max');
    expect((await page({ after: first.endCursor })).said).toEqual([UPDATED]);
  });

  test('ends at its length, and the pages join without gaps or repetitions', async () => {
    await rename(...Array.from({ length: 7 }, (_, i) => `Rex ${i}`));
    const all = await page();
    const seen: string[] = [];
    let next: Page | undefined;
    do {
      next = await page({ first: 3, ...(next && { after: next.endCursor }) });
      seen.push(...next.cursors);
      expect(next.hasNextPage).toBe(seen.length < 7);
    } while (next.hasNextPage);
    expect(seen).toEqual(all.cursors);
    expect(new Set(seen).size).toBe(7);
    expect((await page({ after: seen[2], first: 2 })).cursors).toEqual(seen.slice(3, 5));
    expect((await page({ after: seen[2], first: 2 })).hasPreviousPage).toBe(true);
  });

  test('at `now` is empty, and begins after the newest change', async () => {
    await rename('Max');
    const now = await page({ after: 'now' });
    expect(now).toMatchObject({ said: [], cursors: [], hasNextPage: false });
    await rename('Rex', 'Max');
    expect((await page({ after: now.endCursor })).said).toEqual([UPDATED, UPDATED]);
  });

  test('at `now-N` has the last N events, or all if there are fewer', async () => {
    await rename('a', 'b', 'c');
    const { cursors } = await page();
    expect((await page({ after: 'now-2' })).cursors).toEqual(cursors.slice(1));
    expect((await page({ after: 'now-100' })).cursors).toEqual(cursors);
    expect((await page({ after: 'now-2', topics: ['ORDER'] })).cursors).toEqual([]);
    for (const after of ['now-0', 'now-101', 'now-', 'now-1x']) {
      const { errors } = await gateway.graphql(QUERY, { after });
      expect(errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', details: [{ path: 'after' }] });
    }
  });

  test('has only the topics and kinds that it asks for, and moves on over all others', async () => {
    await rename('Max');
    await gateway.data('mutation { setInventory(petId: 2, input: { quantity: 1 }) { petId } }');
    await gateway.data('mutation { deletePet(id: 2) { id } }');
    expect((await page({ topics: ['INVENTORY'] })).said).toEqual(['INVENTORY CREATED 2', 'INVENTORY DELETED 2']);
    expect((await page({ kinds: ['DELETED'] })).said).toEqual(['PET DELETED 2', 'INVENTORY DELETED 2']);
    expect((await page({ topics: ['PET', 'PET'], kinds: ['UPDATED', 'CREATED'] })).said).toEqual([UPDATED]);
    expect((await page({ topics: ['PET'], kinds: ['ROTATED'] })).said).toEqual([]);
    expect((await page({ topics: [] })).said).toEqual([]);
    const none = await page({ topics: ['CATEGORY'] });
    expect(none).toMatchObject({ said: [], hasNextPage: false, endCursor: (await page()).endCursor });
    expect((await page({ after: none.endCursor })).said).toEqual([]);
  });

  test('has every change that was answered before, while others are made', async () => {
    const work = Array.from({ length: 8 }, async (_, i) => {
      for (let n = 0; n < 5; n++) {
        const { createPet } = await gateway.data(
          `mutation { createPet(input: { name: "${i}-${n}", categoryId: 1 }) { id } }`,
        );
        const { said } = await page({ first: 100, kinds: ['CREATED'] });
        expect(said).toContain(`PET CREATED ${createPet?.id}`);
      }
    });
    await Promise.all(work);
    const { said } = await page({ first: 100, kinds: ['CREATED'] });
    expect([said.length, new Set(said).size]).toEqual([40, 40]);
  });

  test.each([[0], [101]])('has no length of %i', async (first) => {
    const { errors } = await gateway.graphql(QUERY, { first });
    expect(errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', details: [{ path: 'first' }] });
  });

  test('has the current state of each object, unless it is gone or has none', async () => {
    await rename('Max', 'Moritz');
    await gateway.data('mutation { deletePet(id: 3) { id } }');
    await gateway.data('mutation { setInventory(petId: 1, input: { quantity: 9 }) { petId } }');
    await gateway.data('mutation { updateOrder(id: 1, input: {}) { id } }');
    await gateway.data('mutation { updateCategory(id: 2, input: {}) { id } }');
    await gateway.createKey();
    const { events } = await gateway.data(`{ events { nodes { node {
      __typename nodeId
      ... on Pet { name category { name } } ... on InventoryItem { units: quantity pet { name } }
      ... on Order { quantity version } ... on Category { name } } } } }`);
    const pet = { __typename: 'Pet', nodeId: expect.any(String), name: 'Moritz', category: { name: 'Dogs' } };
    expect(events?.nodes?.map(({ node }) => node)).toEqual([
      pet,
      pet,
      null,
      { __typename: 'InventoryItem', nodeId: expect.any(String), units: 9, pet: { name: 'Moritz' } },
      { __typename: 'Order', nodeId: expect.any(String), quantity: 2, version: expect.any(String) },
      { __typename: 'Category', nodeId: expect.any(String), name: 'Cats' },
      null,
    ]);
  });
});

describe('GET /events', () => {
  const get = (query = '', headers: Headers = {}): Promise<Answer> => ask(gateway, `GET /events${query}`, { headers });
  const links = ({ headers }: Answer) =>
    Object.fromEntries(
      Array.from((headers.link ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g), ([, url = '', relation = '']) => [
        relation,
        url,
      ]),
    );

  test('is the same list, in lower case, with an integer id and a text as object id', async () => {
    await ask(gateway, 'PATCH /pets/1', { body: { name: 'Max' }, headers: { 'x-request-id': 'mine' } });
    await gateway.createKey();
    const answer = await get();
    const event = {
      id: expect.any(Number),
      cursor: expect.any(String),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      requestId: expect.any(String),
      actor: 'testadmin000',
    };
    expect(answer.json).toEqual([
      { ...event, topic: 'pet', kind: 'updated', objectId: '1', requestId: 'mine' },
      { ...event, topic: 'api_key', kind: 'created', objectId: expect.any(String) },
    ]);
    expect(answer.headers['x-stability']).toBe('experimental');
    const { nodes } = (await gateway.data('{ events { nodes { id cursor } } }')).events as Json;
    expect(nodes).toEqual(answer.json.map(({ id, cursor }) => ({ id: String(id), cursor })));
  });

  test('links to the next page while there is more, and always to what follows later', async () => {
    await rename('a', 'b', 'c');
    const first = await get('?limit=2&topic=pet&topic=order&kind=updated');
    expect(first.json).toHaveLength(2);
    const { next, monitor } = links(first);
    expect(next).toMatch(/^\/events\?limit=2&topic=pet&topic=order&kind=updated&cursor=[\w-]+$/);
    expect(monitor).toBe(next);
    const second = await ask(gateway, `GET ${next}`);
    expect(second.json).toHaveLength(1);
    expect(links(second)).toEqual({ monitor: expect.stringMatching(/^\/events\?limit=2/) });
    const later = `GET ${links(second).monitor}`;
    expect(await ask(gateway, later)).toMatchObject({ json: [], headers: { link: second.headers.link } });
    await rename('d');
    expect((await ask(gateway, later)).json).toHaveLength(1);
    const now = await get('?cursor=now');
    expect([now.json, Object.keys(links(now))]).toEqual([[], ['monitor']]);
  });

  test('answers 304 to a client that has the page', async () => {
    await rename('a');
    const { headers } = await get();
    const answer = await get('', { 'if-none-match': headers.etag });
    expect([answer.status, answer.headers.link]).toEqual([304, headers.link]);
  });

  test.each([
    ['?topic=PET', 'topic', 'must be one of pet, category, order, inventory, api_key'],
    ['?kind=lost', 'kind', 'must be one of created, updated, deleted, rotated, revoked, ban_lifted'],
    ['?limit=0', 'limit', 'must be an integer from 1 to 100'],
    ['?cursor=', 'cursor', 'is not a cursor of the change feed'],
    ['?cursor=nonsense', 'cursor', 'is not a cursor of the change feed'],
    ['?last=2', 'last', 'is not a parameter of this operation'],
  ])('rejects %s', async (query, path, message) => {
    const { status, error } = await get(query);
    expect([status, error?.code, error?.details]).toEqual([
      400,
      'BAD_USER_INPUT',
      [expect.objectContaining({ path, message: expect.stringContaining(message) })],
    ]);
  });

  test('rejects the cursor of another list', async () => {
    const { headers } = await ask(gateway, 'GET /pets?limit=1');
    const [, cursor] = /cursor=([\w-]+)/.exec(String(headers.link)) ?? [];
    expect(await get(`?cursor=${cursor}`)).toMatchObject({ status: 400, code: 'BAD_USER_INPUT' });
  });
});
