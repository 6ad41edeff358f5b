/**
 * The kinds of database failures, and the error codes of each kind. The codes are from PostgreSQL (SQLSTATE, PostgreSQL
 * documentation, appendix A), Prisma (Prisma error reference) and Node.js. Two characters stand for a class of SQLSTATEs.
 */
const CODES = {
  /** A constraint rejected the write. */
  'foreign-key': '23503 23001 P2003',
  check: '23514 P2004',
  unique: '23505 P2002',
  /** The row to change does not exist. */
  'not-found': 'P2025',
  /** A deadlock or serialization failure, to be retried. */
  transient: '40001 40P01 P2034',
  /** A statement was prepared before a column of its table changed, or by another session. A fresh connection can run it. */
  stale: '0A000 26000',
  /** The server rejects the gateway's statements: a table, column or privilege is missing, or transaction ids are used up. */
  rejected: '42P01 42703 42501 54000 P2021 P2022',
  /** A statement or transaction exceeded its time limit. */
  timeout: '57014 55P03 P2028 P1008',
  /** The server rejects writes: it is a standby, for example, or its disk is full. Reads still work. */
  'read-only': '25006',
  'disk-full': '53100',
  /** The database is unreachable or down, or rejects the gateway's connections. */
  unavailable:
    '08 28 3D 53 57 58 P2024 P2037 P1000 P1001 P1002 P1003 P1010 P1011 P1017 ' +
    'DatabaseNotReachable ConnectionClosed TooManyConnections TlsConnectionError ' +
    'EPROTO CERT_HAS_EXPIRED CERT_NOT_YET_VALID ERR_TLS_CERT_ALTNAME_INVALID DEPTH_ZERO_SELF_SIGNED_CERT ' +
    'SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE UNABLE_TO_GET_ISSUER_CERT_LOCALLY ' +
    'ECONNREFUSED ECONNRESET EPIPE ENOTFOUND EAI_AGAIN ETIMEDOUT EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN EADDRNOTAVAIL ENOENT',
};

export type Failure = keyof typeof CODES;

const BY_CODE = new Map(
  Object.entries(CODES).flatMap(([failure, codes]) =>
    codes.split(' ').map((code) => [code, failure as Failure] as const),
  ),
);

/** Messages of node-postgres errors without a code. */
const LOST_CONNECTION =
  /connection terminated|timeout expired|timeout exceeded when trying to connect|client has encountered a connection error|server closed the connection|cannot use a pool after calling end|not queryable|query read timeout|SSL connection/i;

/** Classifies an error of Prisma or a driver. Returns `undefined` if the error is not one of these failures. */
export function failureOf(error: unknown): Failure | undefined {
  for (const each of withCauses(error)) {
    const failure = ofOne(each);
    if (failure) return failure;
  }
  return undefined;
}

/** Whether a statement ended because a lock was not free in time (`lock_not_available`, PostgreSQL documentation, appendix A). */
export function isLocked(error: unknown): boolean {
  return isObject(error) && error.code === '55P03';
}

/** The name of the foreign key that rejected a write; `undefined` for other errors. */
export function violatedForeignKey(error: unknown): string | undefined {
  if (failureOf(error) !== 'foreign-key') return undefined;
  for (const { constraint } of withCauses(error)) {
    // Prisma's adapter reports the name as the name of an index.
    const name = isObject(constraint) ? constraint.index : constraint;
    if (typeof name === 'string') return name;
  }
  return undefined;
}

/** The name of the foreign key of a column: the default of PostgreSQL and Prisma, which migrations must keep. */
export function foreignKeyOf({ sql }: { readonly sql: string }): string {
  return `${sql.replace('.', '_')}_fkey`;
}

/** An error, and the errors of Prisma, its adapter and the driver that have caused it. */
function* withCauses(error: unknown): Generator<Record<string, unknown>> {
  for (let depth = 0, current = error; depth < 5 && isObject(current); depth++) {
    yield current;
    const meta = isObject(current.meta) ? current.meta : undefined;
    current = current.cause ?? meta?.driverAdapterError;
  }
}

/** Whether it is unclear after a failure which statements its connection has prepared. The connection must then be closed. */
export function leavesUnclear(failure: Failure | undefined): boolean {
  return failure === undefined || failure === 'unavailable' || failure === 'stale' || failure === 'rejected';
}

/** The error of a connection that could not be opened. The database counts as unavailable, for any reason. */
export function notOpened(cause: unknown): Error {
  return Object.assign(new Error(`no connection could be opened: ${reasonOf(cause)}`, { cause }), { code: '08001' });
}

/**
 * The message of a driver's error. If a host has several addresses, connecting to it may fail with an error that has a code
 * but no message. PGlite may throw values that are not errors.
 */
export function reasonOf(error: unknown): string {
  if (!isObject(error)) return String(error);
  const { message, code } = error;
  if (typeof message === 'string' && message !== '') return message;
  return typeof code === 'string' ? code : JSON.stringify(error);
}

function ofOne({ originalCode, code, kind, message }: Record<string, unknown>): Failure | undefined {
  const known = ofCode(originalCode ?? code) ?? ofCode(kind);
  if (known || typeof message !== 'string') return known;
  return LOST_CONNECTION.test(message) ? 'unavailable' : undefined;
}

function ofCode(code: unknown): Failure | undefined {
  if (typeof code !== 'string') return undefined;
  return BY_CODE.get(code) ?? (code.length === 5 ? BY_CODE.get(code.slice(0, 2)) : undefined);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
