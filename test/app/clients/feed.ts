import { patientFetch } from './patient-fetch.js';

const url = process.env.PETSTORE_URL ?? 'http://127.0.0.1:4000';

interface FeedEvent {
  id: number;
  topic: 'pet' | 'category' | 'order' | 'inventory' | 'api_key';
  kind: string;
  objectId: string;
}

/** Calls `load` to read all data, and then `apply` for each later change, once and in order. */
async function follow(load: () => Promise<void>, apply: (event: FeedEvent) => void, key?: string): Promise<never> {
  const headers: Record<string, string> = key ? { 'x-api-key': key } : {};
  let cursor = 'now';
  for (;;) {
    const page = await patientFetch(`${url}/events?cursor=${cursor}`, { headers }).catch(() => undefined);
    if (page?.ok) {
      if (cursor === 'now') await load();
      for (const event of await page.json()) apply(event);
      [, cursor = ''] = /cursor=([\w-]+)>; rel="monitor"/.exec(page.headers.get('link') ?? '') ?? [];
      cursor = await (key ? streamByFetch(cursor, apply, headers) : stream(cursor, apply));
    } else if (page?.status === 410) {
      cursor = 'now'; // the events after the cursor are gone
    } else if (page && page.status < 500 && page.status !== 429) {
      throw new Error(await page.text());
    }
    await new Promise((resolve) => setTimeout(resolve, 1000 + 1000 * Math.random()));
  }
}

/** Streams until EventSource gives up. It connects again by itself only if its connection is lost. */
function stream(cursor: string, apply: (event: FeedEvent) => void): Promise<string> {
  const source = new EventSource(`${url}/events?cursor=${cursor}`);
  return new Promise((resolve) => {
    source.onmessage = ({ data, lastEventId }) => {
      cursor = lastEventId;
      apply(JSON.parse(data));
    };
    source.onerror = () => source.readyState === EventSource.CLOSED && resolve(cursor);
  });
}

/** Streams with headers, which EventSource cannot send, until the connection ends. */
async function streamByFetch(cursor: string, apply: (event: FeedEvent) => void, headers: Record<string, string>) {
  try {
    const accept = { accept: 'text/event-stream', 'last-event-id': cursor };
    const { body } = await fetch(`${url}/events`, { headers: { ...headers, ...accept } });
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
      const blocks = (text + read.value).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, data] = /^data: (.*)$/m.exec(block) ?? [];
        if (data) apply(JSON.parse(data));
        [, cursor = cursor] = /^id: (.*)$/m.exec(block) ?? [];
      }
    }
  } catch {} // the connection is lost
  return cursor;
}

/** What a consumer has received, for the test. */
interface Consumed {
  loads: number;
  events: FeedEvent[];
  error?: string;
}

Object.assign(globalThis, {
  consume: (key?: string): Consumed => {
    const consumed: Consumed = { loads: 0, events: [] };
    const load = async () => {
      consumed.loads += 1;
    };
    follow(load, (event) => consumed.events.push(event), key).catch((error) => {
      consumed.error = String(error);
    });
    return consumed;
  },
});
