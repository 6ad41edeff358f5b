import { statement } from '../../src/database/statement';
import { FeedStream } from '../helper/feed';
import { type Gateway, startGateway } from '../helper/gateway';
import { until } from '../helper/until';
import { ask } from '../http/client';

let gateway: Gateway;
let url: string;
beforeAll(async () => {
  gateway = await startGateway({});
  url = await gateway.listen();
});
afterAll(() => gateway.close());

test('the comments of an idle stream move the cursor over events that the caller does not see', async () => {
  const { headers } = await gateway.createKey({ scopes: ['READ'] });
  const stream = await FeedStream.open(url, { headers });
  await until(() => stream.lastId !== '');
  await gateway.database
    .serviceSession()
    .query(
      statement(`insert into events (topic, kind, object_id, owner) values ('order', 'CREATED', '1', 'user:1')`),
      [],
    );
  const { json } = await ask(gateway, 'GET /events?topic=order');
  const [{ cursor } = {}] = json as unknown as { cursor?: string }[];
  // A comment is sent every 12 seconds.
  await until(() => stream.lastId === cursor, 30);
  const { length } = stream.blocks;
  await until(() => stream.blocks.length > length, 30);
  expect([stream.events, stream.blocks.slice(length - 1)]).toEqual([[], [`:\nid: ${cursor}`, ':']]);
  stream.stop();
}, 90_000);
