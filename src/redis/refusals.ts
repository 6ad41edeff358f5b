import { Redis, type RedisOptions } from 'ioredis';
import type { RedisAddress, RedisHost } from './redis-address';
import { CONNECT_MS, connectionOptions } from './redis-options';

/** What Redis answers to a client that is configured wrongly, and OpenSSL to a certificate: waiting does not help. */
const REFUSALS =
  /^(NOAUTH|WRONGPASS|NOPERM|DENIED|ERR invalid password|ERR DB index|ERR AUTH|ERR The user executing the script)\b/;
const CERTIFICATES =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+|ERR_TLS_CERT_ALTNAME_INVALID|ERR_SSL_\w+|ERR_OSSL_\w+|EPROTO)$/;

/** What Redis, or TLS, has against this client; `undefined` for any other error. */
export function refusalIn(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { message, code } = error as NodeJS.ErrnoException;
  if (code !== undefined && CERTIFICATES.test(code)) return `TLS fails: ${firstSentence(message)}`;
  return REFUSALS.test(message) ? firstSentence(message) : undefined;
}

/**
 * Asks the servers at the address what they are, each at most once.
 * @returns what is wrong with the credentials or with the kind of server, so that it could never be used; `undefined` if
 * nothing is, or if no server answers, which may change.
 */
export async function refusalAt(address: RedisAddress): Promise<string | undefined> {
  for (const host of address.hosts) {
    const verdict = await (address.form === 'sentinel' ? askSentinel(address, host) : askServer(address, host));
    if (verdict !== UNREACHABLE) return verdict;
  }
  return undefined;
}

const UNREACHABLE = Symbol('unreachable');
type Verdict = string | undefined | typeof UNREACHABLE;

async function askSentinel(address: RedisAddress, host: RedisHost): Promise<Verdict> {
  const { master, sentinelUsername: username, sentinelPassword: password } = address;
  const options = { ...connectionOptions(address), ...host, username, password, db: 0 };
  const place = `${host.host}:${host.port}`;
  const found = await ask(options, (redis) => redis.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', String(master)));
  if (found.error?.message.startsWith('ERR unknown command')) return `${place} is not a Sentinel`;
  if (found.error) return verdictOn(found.error, place);
  if (!Array.isArray(found.reply)) return `the Sentinel at ${place} does not know a master ${master}`;
  const [name, port] = found.reply as [string, string];
  return askServer(address, { host: name, port: Number(port) });
}

async function askServer(address: RedisAddress, host: RedisHost): Promise<Verdict> {
  const place = `${host.host}:${host.port}`;
  const { reply, error } = await ask({ ...connectionOptions(address), ...host }, (redis) => redis.info());
  const mode = /^redis_mode:(\w+)/m.exec(String(reply))?.[1];
  if (mode === 'sentinel') return `${place} is a Sentinel: write redis+sentinel://${place}/<name of the master>`;
  if (mode === 'cluster' && address.form !== 'cluster')
    return `${place} is a node of a cluster: write redis+cluster://${place}`;
  if (error) return verdictOn(error, place);
  if (mode !== 'cluster' && address.form === 'cluster') return `${place} is not a node of a cluster`;
  return undefined;
}

function verdictOn(error: Error, place: string): Verdict {
  const refusal = refusalIn(error);
  return refusal === undefined ? UNREACHABLE : `${place} refuses: ${refusal}`;
}

/** Runs a command on a connection of its own. `error`: the first, be it that of the command or of the connection. */
async function ask(
  options: RedisOptions,
  run: (redis: Redis) => Promise<unknown>,
): Promise<{ reply?: unknown; error?: Error }> {
  const redis = new Redis({
    ...options,
    lazyConnect: true,
    retryStrategy: null,
    enableReadyCheck: false,
    disableClientInfo: true,
    commandTimeout: CONNECT_MS,
    maxRetriesPerRequest: 0,
  });
  let first: Error | undefined;
  redis.on('error', (error) => {
    first ??= error;
  });
  try {
    await redis.connect();
    return { reply: await run(redis), error: first };
  } catch (error) {
    return { error: first ?? (error as Error) };
  } finally {
    redis.disconnect();
  }
}

/** Some of Redis's messages go on for paragraphs, and one repeats the arguments of the command, a password perhaps. */
function firstSentence(message: string): string {
  return message.replace(/, with args.*| script: .*/s, '').replace(/[.\n].*/s, '');
}
