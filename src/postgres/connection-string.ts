import type { ClientConfig } from 'pg';
import { parse } from 'pg-connection-string';

interface Host {
  /** A name, an address, or the directory of a Unix socket. */
  readonly host: string;
  readonly port: number;
  /** As it was written: `db.example.org`, `[::1]:5433`, `/run/postgresql`. */
  readonly name: string;
}

export interface ConnectionString {
  /** Whether only a server that takes writes is accepted. */
  readonly mustTakeWrites: boolean;
  /** Whether it is that of a pooler which gives connections for a transaction, as PgBouncer does. */
  readonly isPooled: boolean;
  /** Where, without user and password: `db.example.org:5432/petstore`. */
  readonly place: string;
  /** @returns node-postgres' options; certificates are read again. @throws Error if they cannot be. */
  config(): ClientConfig;
}

const PARAMETERS = new Set(
  'host port user password target_session_attrs pgbouncer sslmode sslrootcert sslcert sslkey sslnegotiation application_name options'.split(
    ' ',
  ),
);
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'];
const ATTRIBUTES = ['any', 'read-write', 'primary'];
const DEFAULT_PORT = 5432;

/** The parts of a URL whose user name, password and parameters are percent-encoded. */
const URL_PARTS =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^/?#]*)@)?(?<hosts>[^/?#@]*)(?<path>\/[^?#@]*)?(?:\?(?<query>[^#@]*))?$/;
const ENCODED = /^(?:[^%\s]|%[0-9a-f]{2})*$/i;

/**
 * Reads a PostgreSQL connection URI as libpq does (PostgreSQL documentation, 34.1.1.2), sockets and `sslmode`
 * included. What it does not support it refuses.
 * @throws Error that says what the value must be, and repeats no part of it that may be a password.
 */
export function parseConnectionString(text: string): ConnectionString {
  if (!/^postgres(ql)?:\/\//.test(text)) throw new Error('must be a URL that starts with postgresql://');
  const parts = URL_PARTS.exec(text)?.groups;
  if (!parts || !ENCODED.test(text) || !isDecodable(text)) {
    throw new Error(
      'must be percent-encoded in its user name, password and parameters: @ is %40, / is %2F, ? is %3F, # is %23, % is %25',
    );
  }
  const { user, hosts: authority = '', path = '/', query } = parts;
  const parameters = new URLSearchParams(query);
  refuseUnknown(parameters);
  const { host, port, name } = hostOf(authority, parameters);
  const mustTakeWrites = (parameters.get('target_session_attrs') ?? 'any') !== 'any';
  const isPooled = parameters.get('pgbouncer') === 'true';
  for (const name of ['host', 'port', 'target_session_attrs', 'pgbouncer']) parameters.delete(name);
  if (parameters.get('sslrootcert') === 'system') parameters.delete('sslrootcert');
  const withoutHost = `postgresql://${user === undefined ? '' : `${user}@`}base${path}?${parameters}`;
  const config = (): ClientConfig => {
    const { ssl, ...rest } = read(withoutHost);
    return { ...rest, host, port, ssl: host.startsWith('/') ? false : (ssl ?? false) };
  };
  config();
  return { mustTakeWrites, isPooled, place: name + decodeURIComponent(path), config };
}

function hostOf(authority: string, parameters: URLSearchParams): Host {
  const [, inAuthority = '', portInAuthority = ''] = /^(\[[^\]]+\]|[^:]*)(?::(.*))?$/.exec(authority) ?? [];
  const name = parameters.get('host') ?? decodeURIComponent(inAuthority);
  const port = parameters.get('port') ?? portInAuthority;
  if (/,/.test(authority + name + port))
    throw new Error('must name one host: for several servers, that of HAProxy, Pgpool-II or a managed endpoint');
  const host = name.replace(/^\[(.+)\]$/, '$1') || 'localhost';
  return { host, port: portOf(port), name: port ? `${name}:${port}` : name };
}

function portOf(text: string): number {
  const port = Number(text || DEFAULT_PORT);
  if (/^[0-9]*$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new Error('must be a URL whose ports are integers from 1 to 65535');
}

function refuseUnknown(parameters: URLSearchParams): void {
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.has(name));
  if (unknown !== undefined) {
    // It may be the end of a password that was not encoded.
    const name = parameters.has('password') ? 'others' : JSON.stringify(unknown);
    throw new Error(`must have no parameters but ${[...PARAMETERS].join(', ')}; ${name} cannot be used`);
  }
  mustBeOneOf(ATTRIBUTES, parameters, 'target_session_attrs');
  mustBeOneOf(['true', 'false'], parameters, 'pgbouncer');
  mustBeOneOf(SSL_MODES, parameters, 'sslmode');
  if (parameters.get('sslmode') === 'verify-ca' && !parameters.get('sslrootcert'))
    throw new Error('must name the file of its certificate authority (sslrootcert) with sslmode=verify-ca');
}

function mustBeOneOf(values: readonly string[], parameters: URLSearchParams, name: string): void {
  const value = parameters.get(name);
  if (value === null || values.includes(value)) return;
  throw new Error(`must have one of ${values.join(', ')} as its ${name}, not ${JSON.stringify(value)}`);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function read(withoutHost: string): ClientConfig {
  try {
    const { user, password, database, ssl, sslnegotiation, application_name, options } = parse(withoutHost, {
      useLibpqCompat: true,
    }) as ClientConfig;
    return { user, password, database, ssl, sslnegotiation, application_name, options };
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    throw new Error(`must name certificates that can be read: ${code} ${path}`, { cause: error });
  }
}
