import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { buildSchema } from 'graphql';
import { type Reply, Transports } from '../helper/transports';
import { FUZZ_TIMEOUT_MS, MINUTES, openShop, SEED } from './fuzz';
import { anyOperations, type Operation } from './graphql';

/** The same operations over every transport: no document makes the server throw, and the transports agree. */

const SCHEMA = buildSchema(readFileSync(join(__dirname, '..', '..', 'schema.graphql'), 'utf8'));
/** Longer URLs are rejected. */
const MAX_URL = 7000;
/** Fields whose values differ between equal requests: quota, usage, and what has been used. */
const VARYING = /rateLimit|viewer|usage|topCallers|apiKeys|bannedUntil|lastUsedAt/i;

let transports: Transports;
beforeAll(async () => {
  // The reader may not change anything, so that equal queries have equal responses.
  transports = await Transports.start('READ', openShop);
});
afterAll(() => transports.close());

const isJson = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** Sends the operation over every transport that can carry it. @returns the replies by transport. */
async function sendAll({ text, variables }: Operation): Promise<Record<string, Reply>> {
  const isInUrl =
    text.isWellFormed() && variables.isWellFormed() && encodeURIComponent(text + variables).length < MAX_URL;
  const replies: Record<string, Reply> = {};
  for (const [way, send] of Object.entries(transports.ways)) {
    if (/GET/.test(way) && (!isInUrl || /^mutation/.test(text))) continue;
    const left = await transports.remaining();
    const reply = await send({ query: text, variables });
    const codes = JSON.stringify(reply.errors ?? []);
    if (reply.status >= 500 || codes.includes('INTERNAL_SERVER_ERROR'))
      throw new Error(`${way}: ${JSON.stringify({ text, variables, reply, logged: transports.logged })}`);
    expect([way, reply.status >= 200 && reply.status < 500]).toEqual([way, true]);
    if (reply.status === 400) expect([way, text, left - (await transports.remaining())]).toEqual([way, text, 1]);
    replies[way] = reply;
  }
  return replies;
}

test(
  'every generated operation gets the same response over every transport, and queries get it again after others',
  async () => {
    const kept: [Operation, Reply][] = [];
    const statuses = new Set<number>();
    const property = fc.asyncProperty(anyOperations(SCHEMA), async (operation) => {
      if (!isJson(operation.variables)) return;
      const replies = await sendAll(operation);
      const isSubscription = /^\s*subscription/.test(operation.text);
      const alike = Object.entries(replies).filter(([way]) => !isSubscription || !/^(POST|GET)$/.test(way));
      const [first] = alike;
      if (!first) return;
      statuses.add(first[1].status);
      // The parser recurses, so whether its stack or the limit on tokens ends first depends on its caller.
      if (VARYING.test(operation.text) || operation.text.includes('{a'.repeat(1000))) return;
      for (const [way, reply] of alike) expect([operation, way, reply]).toEqual([operation, way, first[1]]);
      if (/^query/.test(operation.text) && replies.POST) kept.push([operation, replies.POST]);
    });
    await fc.assert(property, {
      seed: SEED,
      ...(MINUTES ? { interruptAfterTimeLimit: MINUTES * 60_000, numRuns: 1e9 } : { numRuns: 300 }),
    });
    expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 403]));
    expect(kept.length).toBeGreaterThan(20);
    for (const [{ text, variables }, reply] of kept.toReversed())
      expect([text, await transports.ways.POST?.({ query: text, variables })]).toEqual([text, reply]);
    expect(transports.logged).toEqual([]);
  },
  FUZZ_TIMEOUT_MS,
);
