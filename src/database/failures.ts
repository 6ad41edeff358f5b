/**
 * Database failures, under common names for both drivers and Prisma:
 * - `foreign-key`, `check`, `unique`: a constraint rejected the write;
 * - `not-found`: the row to change does not exist;
 * - `transient`: a deadlock or serialization failure, to be retried;
 * - `timeout`: a statement or transaction exceeded its time limit;
 * - `unavailable`: the database is unreachable, down, or no longer accepts this service.
 */
export type Failure =
  | 'foreign-key'
  | 'check'
  | 'unique'
  | 'not-found'
  | 'transient'
  | 'timeout'
  | 'unavailable';

/** By SQLSTATE (PostgreSQL documentation, appendix A); two characters stand for their class. */
const BY_SQLSTATE: Readonly<Record<string, Failure>> = {
  '23503': 'foreign-key',
  '23001': 'foreign-key',
  '23514': 'check',
  '23505': 'unique',
  '40001': 'transient',
  '40P01': 'transient',
  '57014': 'timeout',
  '55P03': 'timeout',
  '08': 'unavailable',
  '28': 'unavailable',
  '3D': 'unavailable',
  '53': 'unavailable',
  '57': 'unavailable',
  '58': 'unavailable',
  '25006': 'unavailable',
};

/** By Prisma's error codes (Prisma error reference). */
const BY_PRISMA_CODE: Readonly<Record<string, Failure>> = {
  P2002: 'unique',
  P2003: 'foreign-key',
  P2004: 'check',
  P2025: 'not-found',
  P2034: 'transient',
  P2024: 'unavailable',
  P2028: 'timeout',
  P2037: 'unavailable',
  P1000: 'unavailable',
  P1001: 'unavailable',
  P1002: 'unavailable',
  P1003: 'unavailable',
  P1008: 'timeout',
  P1010: 'unavailable',
  P1011: 'unavailable',
  P1017: 'unavailable',
};

const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'ENOENT',
]);

/** node-postgres messages that have no code. */
const LOST_CONNECTION =
  /connection terminated|timeout exceeded when trying to connect|client has encountered a connection error|server closed the connection|cannot use a pool after calling end|not queryable/i;
const SLOW = /query read timeout/i;

/** Classifies an error of Prisma or a driver; `undefined` if it is none of these failures. */
export function failureOf(error: unknown): Failure | undefined {
  for (let depth = 0, current = error; depth < 5 && isObject(current); depth++) {
    const failure = ofOne(current);
    if (failure) return failure;
    const meta = isObject(current.meta) ? current.meta : undefined;
    current = current.cause ?? meta?.driverAdapterError;
  }
  return undefined;
}

/** Whether the same transaction may succeed if it is retried. */
export function isTransient(error: unknown): boolean {
  return failureOf(error) === 'transient';
}

/**
 * The message of a driver's error. Connecting to a host with several addresses fails with an error that has a code but
 * no message, and PGlite throws objects that are not errors.
 */
export function reasonOf(error: unknown): string {
  if (!isObject(error)) return String(error);
  const { message, code } = error;
  if (typeof message === 'string' && message !== '') return message;
  return typeof code === 'string' ? code : JSON.stringify(error);
}

function ofOne(error: Record<string, unknown>): Failure | undefined {
  const code = error.originalCode ?? error.code;
  if (typeof code === 'string') {
    const known =
      BY_PRISMA_CODE[code] ??
      BY_SQLSTATE[code] ??
      (code.length === 5 ? BY_SQLSTATE[code.slice(0, 2)] : undefined) ??
      (NETWORK.has(code) ? 'unavailable' : undefined);
    if (known) return known;
  }
  if (
    error.kind === 'DatabaseNotReachable' ||
    error.kind === 'ConnectionClosed' ||
    error.kind === 'TooManyConnections'
  ) {
    return 'unavailable';
  }
  if (typeof error.message !== 'string') return undefined;
  if (LOST_CONNECTION.test(error.message)) return 'unavailable';
  return SLOW.test(error.message) ? 'timeout' : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
