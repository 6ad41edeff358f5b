/** Replies of Redis to a wrong URL, user or permissions: retrying does not help. */
const REJECTIONS =
  /\b(NOAUTH|WRONGPASS|NOPERM|DENIED|MOVED|ERR (invalid password|AUTH|DB index|unknown command|No such master|This instance has cluster support disabled|The user executing the script))\b.*/s;
/** OpenSSL's codes for a rejected certificate. */
const CERTIFICATES =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+|ERR_TLS_CERT_ALTNAME_INVALID|ERR_SSL_\w+|ERR_OSSL_\w+|EPROTO)$/;

/**
 * Checks that an error may be temporary.
 * @throws Error for the operator, without passwords, if Redis or TLS rejects this client: the start stops then.
 */
export function assertAccepted(error: unknown): void {
  const rejection = rejectionIn(error);
  if (rejection !== undefined) throw new Error(`REDIS_URL: ${rejection}`);
}

function rejectionIn(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { message, code } = error as NodeJS.ErrnoException;
  const rejection =
    code !== undefined && CERTIFICATES.test(code) ? `TLS fails: ${message}` : REJECTIONS.exec(message)?.[0];
  // The first sentence: some messages have paragraphs, and one repeats the arguments of the command, which may be a password.
  return rejection?.replace(/, with args.*| script: .*/s, '').replace(/(\.(\s|$)|\n).*/s, '');
}
