/**
 * Replays every scenario against the build, on both databases, and compares the responses with the transcript.
 *
 *   npm run net                        # shows the differences; exits with 1 if there are any
 *   npm run net -- pets                # only scenarios whose name contains `pets`
 *   npm run net -- --record            # writes the transcript, and the texts of messages to test/net/messages
 *   npm run net -- --record-messages   # writes only the texts of messages
 *   npm run net -- --embedded          # only on the embedded database; --postgres: only on PostgreSQL
 *   npm run net -- --bail              # stops after the first scenario that differs
 *   npm run net -- --times             # also shows how long each scenario takes
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { type Entry, Net, type Scenario, SETTINGS } from './scenario';
import { type Databases, embeddedDatabases, postgresDatabases, startServer } from './server';

const POSTGRES = process.env.TEST_DATABASE_URL ?? 'postgresql://postgres@127.0.0.1:5432/postgres';
const REDIS = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379/1';

/** The number of scenarios that run at once: two keep the cores busy while the third waits. */
const AT_ONCE = 3;

const options = process.argv.slice(2).filter((argument) => argument.startsWith('--'));
const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const isRecording = options.includes('--record');
const isRecordingMessages = isRecording || options.includes('--record-messages');

interface Recorded {
  readonly scenario: Scenario;
  readonly entries: readonly Entry[];
}

function scenarios(): Scenario[] {
  const files = readdirSync(join(__dirname, 'scenarios')).sort();
  const all = files.flatMap((file): Scenario[] => require(join(__dirname, 'scenarios', file)).scenarios);
  const repeated = all.map(({ name }) => name).filter((name, i, every) => every.indexOf(name) !== i);
  if (repeated.length) throw new Error(`Several scenarios have the same name: ${repeated}`);
  return all.filter(({ name }) => !names.length || names.some((part) => name.includes(part)));
}

async function record(scenario: Scenario, databases: Databases): Promise<Recorded> {
  const redis = scenario.redis ? await emptyRedis() : {};
  const server = await startServer(databases, { ...SETTINGS, ...redis, ...scenario.settings });
  const net = new Net(server);
  try {
    await scenario.run(net);
  } catch (error) {
    throw new Error(`${scenario.name}: ${(error as Error).stack}\nafter ${net.entries.at(-1)?.text}`);
  } finally {
    await server.drop();
  }
  return { scenario, entries: net.entries };
}

/** The number of the next Redis database for a scenario. It counts down, because the tests use the first databases. */
let redisDatabase = 15;
async function emptyRedis(): Promise<{ REDIS_URL: string }> {
  const url = new URL(REDIS);
  url.pathname = `/${redisDatabase--}`;
  const client = new Redis(url.href);
  await client.flushdb();
  await client.quit();
  return { REDIS_URL: url.href };
}

function transcriptOf(entries: readonly Entry[]): string {
  return `${entries.map(({ text }) => text).join('\n\n')}\n`;
}

function messagesOf(entries: readonly Entry[]): string {
  const worded = entries.filter(({ messages }) => messages.length);
  return `${worded.map(({ text, messages }) => `${text.split('\n')[0]}\n${messages.join('\n')}`).join('\n\n')}\n`;
}

/** Compares a file with `text`, and prints the differences. @returns whether they are equal. */
function isAsRecorded(file: string, text: string, where: string): boolean {
  let expected = '';
  try {
    expected = readFileSync(file, 'utf8');
  } catch {
    console.log(`${file} does not exist: record it with --record`);
  }
  if (expected === text) return true;
  const directory = mkdtempSync(join(tmpdir(), 'petstore-net-diff-'));
  const actual = join(directory, 'actual.txt');
  writeFileSync(actual, text);
  const args = ['diff', '--no-index', '--no-color', '--unified=6', file, actual];
  const { stdout } = spawnSync('git', args, { encoding: 'utf8' });
  rmSync(directory, { recursive: true });
  console.log(`\n######## ${where}\n${stdout.split('\n').slice(2, 200).join('\n')}`);
  return false;
}

async function run(databases: Databases): Promise<{ failed: number; requests: number }> {
  const isRunOnBoth = !options.includes('--embedded') && databases.kind === 'embedded';
  const left = scenarios().filter(({ only, once }) => (!only || only === databases.kind) && !(once && isRunOnBoth));
  let failed = 0;
  let requests = 0;
  const worker = async () => {
    for (let scenario = left.shift(); scenario; scenario = left.shift()) {
      const started = Date.now();
      const isGood = await record(scenario, databases).then(
        ({ entries }) => {
          requests += entries.length;
          return settle(scenario as Scenario, entries, databases.kind);
        },
        (error) => {
          console.log(`\n######## ${error.message}`);
          return false;
        },
      );
      if (options.includes('--times')) console.log(`${scenario.name}: ${Date.now() - started} ms`);
      if (!isGood) failed++;
      if (failed && options.includes('--bail')) left.length = 0;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  await databases.close();
  return { failed, requests };
}

/**
 * Compares the files of a scenario with its entries. When recording, writes the files first. A scenario for both databases is
 * recorded on the embedded database, except with `--postgres`.
 */
function settle(scenario: Scenario, entries: readonly Entry[], kind: Databases['kind']): boolean {
  const [transcript, messages] = ['transcript', 'messages'].map((directory) => {
    mkdirSync(join(__dirname, directory), { recursive: true });
    return join(__dirname, directory, `${scenario.name.replaceAll(' ', '-')}.txt`);
  }) as [string, string];
  const isRecorder = kind === 'embedded' || scenario.only === kind || scenario.once || options.includes('--postgres');
  if (isRecorder && isRecording) writeFileSync(transcript, transcriptOf(entries));
  if (isRecorder && isRecordingMessages) writeFileSync(messages, messagesOf(entries));
  const where = `${scenario.name}, on ${kind}`;
  const isSame = isAsRecorded(transcript, transcriptOf(entries), where);
  return isAsRecorded(messages, messagesOf(entries), `${where}: wording`) && isSame;
}

async function main(): Promise<void> {
  const started = Date.now();
  let failed = 0;
  if (!options.includes('--postgres')) failed += await report('the embedded database', embeddedDatabases);
  if (!options.includes('--embedded')) failed += await report('PostgreSQL', () => postgresDatabases(POSTGRES));
  console.log(
    `${failed ? `${failed} scenarios differ` : 'No differences'}, after ${Math.round((Date.now() - started) / 1000)} s.`,
  );
  process.exit(failed ? 1 : 0);
}

async function report(name: string, open: () => Promise<Databases>): Promise<number> {
  const { failed, requests } = await run(await open());
  console.log(`${name}: ${requests} entries, ${failed} scenarios that differ`);
  return failed;
}

main().catch((error) => {
  console.error(error);
  process.exit(2);
});
