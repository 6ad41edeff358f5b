import type { ClientConfig } from 'pg';
import { parse } from 'pg-connection-string';

export interface Host {
  /** A name, an address, or the directory of a Unix socket. */
  readonly host: string;
  readonly port: number;
  /** As it was written: `db.example.org`, `[::1]:5433`, `/run/postgresql`. */
  readonly name: string;
}

export interface ConnectionString {
  readonly hosts: readonly [Host, ...Host[]];
  /** Whether only a server that takes writes is accepted. */
  readonly mustTakeWrites: boolean;
  /** Where, without user and password: `one,two:5433/petstore`. */
  readonly place: string;
  /** @returns node-postgres' options for one of the hosts; certificates are read again. @throws Error if they cannot be. */
  configFor(host: Host): ClientConfig;
}

const PARAMETERS = new Set(
  'host port user password target_session_attrs sslmode sslrootcert sslcert sslkey sslnegotiation application_name options'.split(
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
 * Reads a PostgreSQL connection URI as libpq does (PostgreSQL documentation, 34.1.1.2), several hosts, sockets and
 * `sslmode` included. What it does not support it refuses.
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
  const hosts = hostsOf(authority, parameters);
  const mustTakeWrites = (parameters.get('target_session_attrs') ?? 'any') !== 'any';
  if (hosts.length > 1 && !mustTakeWrites)
    throw new Error('must say target_session_attrs=read-write when it names several hosts');
  for (const name of ['host', 'port', 'target_session_attrs']) parameters.delete(name);
  if (parameters.get('sslrootcert') === 'system') parameters.delete('sslrootcert');
  const isOneHost = `postgresql://${user === undefined ? '' : `${user}@`}base${path}?${parameters}`;
  const configFor = ({ host, port }: Host): ClientConfig => {
    const { ssl, ...rest } = read(isOneHost);
    return { ...rest, host, port, ssl: host.startsWith('/') ? false : (ssl ?? false) };
  };
  configFor(hosts[0]);
  return { hosts, mustTakeWrites, place: hosts.map(({ name }) => name).join() + decodeURIComponent(path), configFor };
}

function hostsOf(authority: string, parameters: URLSearchParams): [Host, ...Host[]] {
  const inAuthority = authority.split(',').map((each) => /^(\[[^\]]+\]|[^:]*)(?::(.*))?$/.exec(each) ?? []);
  const names = parameters.get('host')?.split(',') ?? inAuthority.map(([, name = '']) => decodeURIComponent(name));
  const ports = parameters.get('port')?.split(',') ?? inAuthority.map(([, , port = '']) => port);
  if (ports.length !== names.length && ports.length !== 1)
    throw new Error('must name one port, or as many ports as hosts');
  const [first, ...others] = names.map((name, i) => {
    const port = ports[i] ?? ports[0] ?? '';
    const host = name.replace(/^\[(.+)\]$/, '$1') || 'localhost';
    return { host, port: portOf(port), name: port ? `${name}:${port}` : name };
  });
  return [first as Host, ...others];
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

function read(isOneHost: string): ClientConfig {
  try {
    const { user, password, database, ssl, sslnegotiation, application_name, options } = parse(isOneHost, {
      useLibpqCompat: true,
    }) as ClientConfig;
    return { user, password, database, ssl, sslnegotiation, application_name, options };
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    throw new Error(`must name certificates that can be read: ${code} ${path}`, { cause: error });
  }
}
