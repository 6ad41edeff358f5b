import { readFileSync } from 'node:fs';

/** The form of a REDIS_URL: a server, the Sentinels of a master, or nodes of a cluster. */
type RedisForm = keyof typeof FORMS;

interface RedisHost {
  readonly host: string;
  readonly port: number;
}

export interface RedisAddress {
  readonly form: RedisForm;
  /** For a cluster, the nodes from which the client discovers all other nodes. */
  readonly hosts: readonly RedisHost[];
  /** The name by which the Sentinels know the master; `undefined` in the other forms. */
  readonly master: string | undefined;
  /** Always 0 in a cluster. */
  readonly db: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly sentinelUsername: string | undefined;
  readonly sentinelPassword: string | undefined;
  /** The certificates for all connections, including connections to Sentinels. Set if the URL begins with `rediss`. */
  readonly tls: { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer } | undefined;
}

const FORMS = {
  server: 'redis://[user:password@]host[:port][/database]',
  sentinel: 'redis+sentinel://[user:password@]host[:port],host[:port]/master-name[/database]',
  cluster: 'redis+cluster://[user:password@]host[:port],host[:port]',
} as const;

const PARTS =
  /^redis(?<tls>s?)(?:\+(?<form>sentinel|cluster))?:\/\/(?:(?<credentials>[^@/?#]*)@)?(?<hosts>[^@/?#]+)(?:\/(?<path>[^@?#]*))?(?:\?(?<query>[^#]*))?$/;
const STARTS = /^rediss?(\+(?<form>sentinel|cluster))?:\/\//;
const HOST = /^(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<name>[A-Za-z0-9._-]+))(?::(?<port>[0-9]{1,5}))?$/;
const PORTS: Record<RedisForm, number> = { server: 6379, sentinel: 26379, cluster: 6379 };
/**
 * The URL parameters that name TLS files, and the TLS option that each of them sets. PostgreSQL's URLs use the same names.
 */
const TLS_FILES = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' } as const;

/**
 * Parses a REDIS_URL, and reads its certificates.
 * @throws Error that says what the URL must be. The message quotes only names of parameters and files from the URL, since
 * any other part may belong to a password that was not encoded.
 */
export function parseRedisAddress(url: string): RedisAddress {
  const start = STARTS.exec(url);
  if (!start)
    throw new Error('must be a URL that starts with redis://, rediss://, redis+sentinel:// or redis+cluster://');
  const form = (start.groups?.form ?? 'server') as RedisForm;
  const fail = (what: string): never => {
    throw new Error(`must be of the form ${FORMS[form]}: ${what}`);
  };
  const parts = PARTS.exec(url)?.groups ?? fail('user and password must be percent-encoded, and a host is needed');
  const { tls = '', credentials = '', path = '', query = '' } = parts;
  const [username, password] = decoded(credentials) ?? fail('user and password must be percent-encoded');
  const hosts = (parts.hosts ?? '')
    .split(',')
    .map((host) => hostOf(host, PORTS[form]) ?? fail('hosts must be names or addresses, with ports from 1 to 65535'));
  if (form === 'server' && hosts.length > 1) fail('several hosts need redis+sentinel:// or redis+cluster://');
  const segments = path.split('/');
  const master = form === 'sentinel' ? segments.shift() : undefined;
  if (master !== undefined && !/^[A-Za-z0-9._-]+$/.test(master)) fail('the name of the master is missing');
  const [db = '', ...rest] = segments;
  if (rest.length || !/^[0-9]{0,5}$/.test(db)) fail('the database must be a number');
  if (form === 'cluster' && Number(db) > 0) fail('a cluster has no numbered databases');
  const parameters = parametersOf(query, form, tls !== '', fail);
  return {
    form,
    hosts,
    master,
    db: Number(db),
    username,
    password,
    sentinelUsername: parameters.get('sentinel_username') ?? undefined,
    sentinelPassword: parameters.get('sentinel_password') ?? undefined,
    tls: tls ? certificatesOf(parameters) : undefined,
  };
}

/** The address for logs, without user and password. */
export function placeOfRedis({ hosts, master, db }: RedisAddress): string {
  const names = hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`);
  return [names.join(','), ...(master ? [master] : []), ...(db ? [db] : [])].join('/');
}

/** Decodes user and password; `undefined` if they are not percent-encoded. */
function decoded(credentials: string): [user: string | undefined, password: string | undefined] | undefined {
  const [user = '', ...rest] = credentials.split(':');
  try {
    return [decodeURIComponent(user) || undefined, decodeURIComponent(rest.join(':')) || undefined];
  } catch {
    return undefined;
  }
}

function hostOf(text: string, defaultPort: number): RedisHost | undefined {
  const { v6, name, port } = HOST.exec(text)?.groups ?? {};
  const host = v6 ?? name;
  const number = port === undefined ? defaultPort : Number(port);
  return host !== undefined && number > 0 && number < 65_536 ? { host, port: number } : undefined;
}

function parametersOf(query: string, form: RedisForm, isTls: boolean, fail: (what: string) => never): URLSearchParams {
  // URLSearchParams would decode a plus sign as a space, unlike the rest of the URL.
  const parameters = new URLSearchParams(query.replaceAll('+', '%2B'));
  const known = [
    ...(isTls ? Object.keys(TLS_FILES) : []),
    ...(form === 'sentinel' ? ['sentinel_username', 'sentinel_password'] : []),
  ];
  const isKnown = [...parameters.keys()].every((name) => known.includes(name));
  if (!isKnown)
    fail(
      known.length
        ? `the allowed parameters are ${known.join(', ')}`
        : 'parameters are allowed only with TLS (rediss://)',
    );
  if (parameters.has('sslcert') !== parameters.has('sslkey')) fail('sslcert and sslkey must be given together');
  return parameters;
}

function certificatesOf(parameters: URLSearchParams): NonNullable<RedisAddress['tls']> {
  const files = Object.entries(TLS_FILES).flatMap(([parameter, option]) => {
    const file = parameters.get(parameter);
    return file ? [[option, read(parameter, file)]] : [];
  });
  return Object.fromEntries(files);
}

function read(parameter: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`must name a readable file in ${parameter}: ${JSON.stringify(file)} (${code})`);
  }
}
