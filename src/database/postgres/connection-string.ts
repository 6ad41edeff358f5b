import type { ClientConfig } from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';

export interface ConnectionString {
  /** Host, port and database, without user and password: `db.example.org:5432/petstore`. */
  readonly place: string;
  /** Whether the gateway must connect only to a server that accepts writes. */
  readonly mustTakeWrites: boolean;
  /** Whether the URL leads to a pooler in transaction mode, such as PgBouncer. */
  readonly isPooled: boolean;
  /** Reads the certificates again. @returns options for node-postgres. @throws Error if a certificate cannot be read. */
  config(): ClientConfig;
}

const PARAMETERS =
  'host port user password target_session_attrs pgbouncer sslmode sslrootcert sslcert sslkey sslnegotiation application_name options'.split(
    ' ',
  );
const VALUES = {
  target_session_attrs: ['any', 'read-write', 'primary'],
  pgbouncer: ['true', 'false'],
  sslmode: ['disable', 'require', 'verify-ca', 'verify-full'],
};

/** The valid URLs. Without this check, pg-connection-string would misread `@`, `/`, `?` and `#` in a password. */
const SHAPE = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?(?<hosts>[^/?#@]*)(?:\/[^?#@]*)?(?:\?(?<query>[^#@]*))?$/;
const ENCODED = /^(?:[^%\s]|%[0-9a-f]{2})*$/i;

/**
 * Parses a PostgreSQL connection URI as libpq does (PostgreSQL documentation, 34.1.1.2), including Unix sockets and
 * `sslmode`.
 * @throws Error that says what the value must be, if it is malformed or has unsupported parameters. The message contains no
 * part of the value that may be a password.
 */
export function parseConnectionString(text: string): ConnectionString {
  if (!/^postgres(ql)?:\/\//.test(text)) throw new Error('must be a URL that starts with postgresql://');
  const { hosts, query } = (ENCODED.test(text) && SHAPE.exec(text)?.groups) || reject();
  const parameters = new URLSearchParams(query);
  checkParameters(parameters);
  if (`${hosts}${parameters.get('host')}${parameters.get('port')}`.includes(','))
    throw new Error(
      'must be a URL with one host. For several servers, use the URL of HAProxy, Pgpool-II or a managed endpoint',
    );
  const { host, port, database = '' } = read(text);
  return {
    place: `${host.includes(':') ? `[${host}]` : host}:${port}/${database}`,
    mustTakeWrites: (parameters.get('target_session_attrs') ?? 'any') !== 'any',
    isPooled: parameters.get('pgbouncer') === 'true',
    config: () => read(text),
  };
}

/** libpq's variables for TLS (PostgreSQL documentation, 34.15). node-postgres would ignore them, and send plain text. */
const TLS_VARIABLES = {
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
};

/** libpq's variables that take effect if DATABASE_URL does not have the parameter. */
export const LIBPQ_VARIABLES: readonly string[] = [
  'PGUSER',
  'PGPASSWORD',
  'PGDATABASE',
  'PGOPTIONS',
  'PGSSLNEGOTIATION',
  ...Object.values(TLS_VARIABLES),
];

/** Adds the variables for TLS as parameters, unless the URL has these parameters. */
export function withTlsVariables(text: string, environment: Readonly<Record<string, string | undefined>>): string {
  const [, query = ''] = text.split('?', 2);
  const parameters = new URLSearchParams(query);
  const mode = parameters.get('sslmode') ?? (environment.PGSSLMODE || 'disable');
  // libpq's modes that allow plain text need no TLS.
  if (mode === 'disable' || mode === 'allow' || mode === 'prefer') return text;
  const added = Object.entries(TLS_VARIABLES)
    .filter(([name, variable]) => environment[variable] && !parameters.has(name))
    .map(([name, variable]) => `${name}=${encodeURIComponent(environment[variable] ?? '')}`);
  return added.length ? `${text}${text.includes('?') ? '&' : '?'}${added.join('&')}` : text;
}

function read(text: string): ClientConfig & { host: string } {
  try {
    decodeURIComponent(text);
    // Removes `sslrootcert=system`, since Node.js trusts its built-in list of certificate authorities by default.
    const parsed = parse(text.replace(/(?<=[?&])sslrootcert=system(?=&|$)/, ''), { useLibpqCompat: true });
    const { ssl = false, ...config } = toClientConfig({ ...parsed, port: portOf(parsed.port) });
    const host = parsed.host?.replace(/^\[(.+)\]$/, '$1') || 'localhost';
    return { ...config, host, ssl: host.startsWith('/') ? false : ssl };
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (path === undefined) return reject();
    throw new Error(`must name certificates that can be read: ${code} ${path}`, { cause: error });
  }
}

function portOf(given?: string | null): string {
  const port = given || '5432';
  return /^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535 ? port : reject();
}

function reject(): never {
  throw new Error(
    'must be a URL such as postgresql://user:password@host:5432/database, percent-encoded in its user name, password and parameters: @ is %40, / is %2F, ? is %3F, # is %23, % is %25',
  );
}

function checkParameters(parameters: URLSearchParams): void {
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) {
    // With a `password` parameter, the unknown name may be the end of a password that was not encoded.
    const name = parameters.has('password') ? 'others' : JSON.stringify(unknown);
    throw new Error(`must only have the parameters ${PARAMETERS.join(', ')}, not ${name}`);
  }
  for (const [name, values] of Object.entries(VALUES)) {
    const value = parameters.get(name);
    if (value !== null && !values.includes(value))
      throw new Error(`must have ${name}=${values.join(' or ')}, not ${JSON.stringify(value)}`);
  }
  if (parameters.get('sslmode') === 'verify-ca' && !parameters.get('sslrootcert'))
    throw new Error('must name the file of its certificate authority (sslrootcert) with sslmode=verify-ca');
}
