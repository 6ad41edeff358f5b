/** Redis replies that report a wrong URL, a wrong user or missing permissions. Retrying does not help. */
const REJECTIONS =
  /\b(NOAUTH|WRONGPASS|NOPERM|DENIED|MOVED|ERR (invalid password|AUTH|DB index|unknown command|No such master|This instance has cluster support disabled|The user executing the script))\b.*/s;
/** OpenSSL's codes for a rejected certificate. */
const CERTIFICATES =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+|ERR_TLS_CERT_ALTNAME_INVALID|ERR_SSL_\w+|ERR_OSSL_\w+|EPROTO)$/;

/**
 * Asserts that an error may be temporary.
 * @throws Error if Redis or TLS rejects this client, so that the gateway does not start. The message is for the operator,
 * and contains no passwords.
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
  // Keeps only the first sentence, since some messages have paragraphs. One message repeats the arguments of the
  // command. The arguments are removed, since they may include a password.
  return rejection?.replace(/, with args.*| script: .*/s, '').replace(/(\.(\s|$)|\n).*/s, '');
}
