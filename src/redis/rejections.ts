/** A fault that the operator must repair, and how. */
type Remedy = readonly [fault: RegExp, remedy: string];

const SENTINEL = 'If the server is a Sentinel, use redis+sentinel:// in REDIS_URL.';

/** Redis replies that report a wrong URL, a wrong user or missing permissions. Retrying does not help. */
const REJECTIONS: readonly Remedy[] = [
  [/\bNOAUTH\b/, 'Add the password to REDIS_URL (for Sentinels, as sentinel_password).'],
  [
    /\b(WRONGPASS|ERR invalid password|ERR AUTH)\b/,
    'Correct user and password in REDIS_URL. Both are percent-encoded.',
  ],
  [
    /\b(NOPERM|ERR The user executing the script)\b/,
    'Grant the user in REDIS_URL the permissions that docs/redis.md lists.',
  ],
  [/\bDENIED\b/, 'Set a password on the server and in REDIS_URL, or turn its protected mode off.'],
  [/\bMOVED\b/, 'The server is a node of a cluster: use redis+cluster:// in REDIS_URL.'],
  [/\bERR DB index\b/, 'Correct the database number in REDIS_URL.'],
  [/\bERR unknown command ['`]?(eval|cluster)\b/i, SENTINEL],
  [
    /\bERR unknown command ['`]?sentinel\b/i,
    'The server is not a Sentinel: use redis:// in REDIS_URL, or name Sentinels.',
  ],
  [/\bERR unknown command\b/, 'The server must have the commands that docs/redis.md lists.'],
  [/\bERR No such master\b/, 'Correct the name of the master in REDIS_URL.'],
  [
    /\bERR This instance has cluster support disabled\b/,
    'The server is not a node of a cluster: use redis:// in REDIS_URL.',
  ],
];

/** OpenSSL's codes for a rejected certificate, and what to do. */
const CERTIFICATES: readonly Remedy[] = [
  [
    /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+)$/,
    'Name the authority of the certificate in REDIS_URL (?sslrootcert=FILE).',
  ],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'Use a host in REDIS_URL that the certificate names.'],
  [/^(ERR_SSL_\w+|ERR_OSSL_\w+|EPROTO)$/, 'Check sslcert and sslkey in REDIS_URL, or use redis:// without TLS.'],
];

/** Faults that may be temporary. Until they end, the gateway counts in memory. */
const TEMPORARY: readonly Remedy[] = [
  [/\bREADONLY\b/, 'The server is a replica: name the master in REDIS_URL, or its Sentinels.'],
  [/\bNOREPLICAS\b/, 'The server accepts writes only with replicas (min-replicas-to-write).'],
  [/\bOOM\b/, "Raise the server's maxmemory."],
  [/\bMISCONF\b/, 'The server cannot save its data: free space on its disk.'],
];

/**
 * Does nothing if the error may be temporary.
 * @throws Error if Redis or TLS rejects this client: the gateway must then not start. The message is for the operator,
 * and contains no passwords.
 */
export function assertAccepted(error: unknown): void {
  const rejection = rejectionIn(error);
  if (rejection !== undefined) throw new Error(`REDIS_URL: ${rejection}`);
}

/** An error and its remedy, for the log; `undefined` if no remedy is known. */
export function explanationOf(error: unknown): string | undefined {
  return rejectionIn(error) ?? (error instanceof Error ? withRemedy(error.message, TEMPORARY) : undefined);
}

/**
 * Explains why a client did not connect at the start, if the reason may be TLS.
 * @param fault the fault of the client, if there was one within the time limit.
 */
export function withTlsHint(fault: Error | undefined, isTls: boolean): Error | undefined {
  if (isTls && (!fault || /timeout|ETIMEDOUT/i.test(fault.message)))
    return new Error('no answer to the TLS handshake. If the server does not use TLS, use redis:// in REDIS_URL.');
  if (!isTls && fault && /ECONNRESET|connection (is|was) closed/i.test(fault.message))
    return new Error(`${firstSentence(fault.message)}. If the server uses TLS, use rediss:// in REDIS_URL.`);
  return fault;
}

function rejectionIn(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { message, code = '' } = error as NodeJS.ErrnoException;
  const found = CERTIFICATES.find(([fault]) => fault.test(code));
  return found ? `TLS fails: ${firstSentence(message)}. ${found[1]}` : withRemedy(message, REJECTIONS);
}

/** The part of the reply that begins with the code, and the remedy. */
function withRemedy(message: string, remedies: readonly Remedy[]): string | undefined {
  const found = remedies.find(([fault]) => fault.test(message));
  if (!found) return undefined;
  const [fault, remedy] = found;
  return `${firstSentence(message.slice(message.search(fault)))}. ${remedy}`;
}

/**
 * The first sentence of a message, since some messages have paragraphs. One message repeats the arguments of the command. They
 * are removed, since they may include a password.
 */
function firstSentence(message: string): string {
  return message.replace(/, with args.*| script: .*/s, '').replace(/(\.(\s|$)|\n).*/s, '');
}
