import { join } from 'node:path';
import { FeedStream } from '../helper/feed';
import { ADMIN_KEY, type Json } from '../helper/gateway';
import { Installation } from '../helper/installation';
import { ask } from '../helper/load';
import { HEADERS } from '../helper/traffic';

const DEADLY = { NODE_OPTIONS: `--require ${join(__dirname, 'kill-before-publishing.cjs')}` };

test('a change that is committed when the process is killed, and not published yet, is in the feed', async () => {
  const installation = new Installation({ ADMIN_API_KEY: ADMIN_KEY, LOG_LEVEL: 'silent' });
  try {
    let gateway = await installation.start();
    const send = (method: string, path: string, body: object) =>
      ask(gateway.url, { method, path, headers: HEADERS, body: JSON.stringify(body) });
    await send('POST', '/categories', { name: 'Dogs' });
    let cursor = '';
    // The event of the first is in the statement of the row, and the event of the second in a transaction.
    for (const [method, path, body, kind] of [
      ['POST', '/pets', { name: 'Rex', categoryId: 1 }, 'created'],
      ['PATCH', '/pets/1', { name: 'Max' }, 'updated'],
    ] as const) {
      const before = await fetch(`${gateway.url}/events?limit=100`, { headers: HEADERS });
      cursor = String(((await before.json()) as Json[]).at(-1)?.cursor);
      gateway = await installation.start(DEADLY);
      expect((await send(method, path, body)).status).toBeUndefined();
      expect(await gateway.ended).toMatchObject({ signal: 'SIGKILL' });
      gateway = await installation.start();
      const stream = await FeedStream.open(gateway.url, { headers: { ...HEADERS, 'last-event-id': cursor } });
      expect((await stream.until(1)).said).toEqual([`PET ${kind} 1`.toUpperCase()]);
      stream.stop();
    }
  } finally {
    await installation.remove();
  }
});
