import type { Transaction } from '../../src/database/database';
import { RecordedWrite } from '../../src/database/recorded-write';
import { statement } from '../../src/database/statement';
import type { Gateway } from '../helper/gateway';
import { running, socketClient } from '../helper/live';
import { until } from '../helper/until';
import { send } from '../rest/client';
import { startToys } from './gateway';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startToys({ ANONYMOUS_ACCESS: 'write' });
});
afterAll(() => gateway.close());

const change = (path: string, body: object) => send(gateway, `PATCH ${path}`, body);

test('a small domain is served over GraphQL and REST, with filters, sort orders and pages', async () => {
  for (const name of ['Train', 'Ball', 'Trumpet'])
    expect(await send(gateway, 'POST /toys', { name })).toMatchObject({ status: 201, json: { name, broken: false } });
  const { json, headers } = await send(gateway, 'GET /toys?name=tr&sort=-name&limit=1');
  expect(json).toMatchObject([{ id: 3, name: 'Trumpet' }]);
  expect(headers.link).toMatch(/rel="next"/);
  expect(await send(gateway, 'GET /toys/9')).toMatchObject({ status: 404, json: { message: 'Toy 9 does not exist.' } });
  expect(await send(gateway, 'POST /toys', { name: '' })).toMatchObject({
    status: 400,
    json: { details: [{ path: 'name', message: 'must not be empty' }] },
  });
  const query = '{ toys(filter: { name: "tr" }, orderBy: { field: NAME }) { totalCount nodes { id name madeAt } } }';
  const nodes = [
    { id: '1', name: 'Train', madeAt: null },
    { id: '3', name: 'Trumpet', madeAt: null },
  ];
  expect(await gateway.data(query)).toEqual({ toys: { totalCount: 2, nodes } });
});

test('an error code that a domain defines is returned with its status, and is in the OpenAPI document', async () => {
  expect(await change('/toys/1', { broken: true })).toMatchObject({ status: 200, json: { broken: true } });
  const error = { code: 'TOY_BROKEN', message: 'Toy 1 is broken.', status: 409 };
  expect(await change('/toys/1', { name: 'Engine' })).toMatchObject({ status: 409, json: error });
  const { text } = await send(gateway, 'GET /openapi.json');
  expect(text).toContain('TOY_BROKEN');
});

test('the events of a domain are delivered to subscribers', async () => {
  const client = socketClient(await gateway.listen());
  const received = client.subscribe('subscription { toyChanged(filter: { ids: [2] }) { kind toy { name } } }');
  await until(async () => (await running(gateway)) === 1);
  await change('/toys/3', { name: 'Horn' });
  await change('/toys/2', { name: 'Balloon' });
  expect(await received.until(1)).toEqual([{ data: { toyChanged: { kind: 'UPDATED', toy: { name: 'Balloon' } } } }]);
  client.close();
});

test.each([
  ['has a topic of no domain', { topic: 'doll' }, 'no domain has the topic doll of a change'],
  ['does not name the owner of its row', { topic: 'toy' }, 'a change of the topic toy must name the owner of the row'],
])('a change that %s is rejected, and nothing is written', async (_what, named, message) => {
  const { total } = await gateway.data<{ total: object }>('{ total: toys { totalCount } }');
  const publish: ((tx: Transaction) => unknown)[] = [
    (tx) => tx.publishOnCommit({ ...named, kind: 'CREATED', id: 1n }),
    (tx) => tx.record({ ...named, kind: 'CREATED', objectId: '1' }),
    (tx) => recordedWrite(named).run(tx, []),
  ];
  for (const each of publish) {
    const work = gateway.database.serviceSession().transaction(async (tx) => {
      await tx.write(statement(`insert into toys (name) values ('Kite')`), []);
      await each(tx);
    });
    await expect(work).rejects.toThrow(message);
  }
  await expect(recordedWrite(named).run(gateway.database.serviceSession(), [])).rejects.toThrow(message);
  expect(await gateway.data('{ total: toys { totalCount } }')).toEqual({ total });
});

const recordedWrite = ({ topic }: { topic: string }) =>
  new RecordedWrite({
    insert: `insert into toys (name) values ('Kite')`,
    returning: { id: 'id' },
    parameters: 0,
    events: [{ topic, kind: 'CREATED', from: 'written', objectId: 'id' }],
  });

test('the links of nested REST paths are filled in', async () => {
  const { createBox } = await gateway.data('mutation { createBox(input: { name: "Wheels" }) { id } }');
  const toys = `/boxes/${createBox?.id}/toys`;
  const created = await send(gateway, `POST ${toys}`, { name: 'Car' });
  await send(gateway, `POST ${toys}`, { name: 'Cart' });
  const { id } = created.json as { id: number };
  expect(created).toMatchObject({ status: 201, headers: { location: `/toys/${id}` } });
  const first = await send(gateway, `GET ${toys}?limit=1`);
  expect(first.json).toEqual([{ id, name: 'Car', broken: false }]);
  const [, next = ''] = /^<(.*)>; rel="next"$/.exec(first.headers.link ?? '') ?? [];
  expect(next).toMatch(new RegExp(`^${toys}\\?limit=1&cursor=`));
  expect((await send(gateway, `GET ${next}`)).json).toEqual([{ id: id + 1, name: 'Cart', broken: false }]);
  expect(await send(gateway, 'GET /boxes/999/toys')).toMatchObject({ status: 404 });
});
