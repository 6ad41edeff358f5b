import { CommandError } from './run-command';

/** Runs a GraphQL operation on a running gateway. @throws CommandError with a message for the user. */
export async function callGateway<Data>(url: string, key: string, query: string, variables?: object): Promise<Data> {
  if (!URL.canParse(url)) throw new CommandError(`${url} is not a URL.`);
  const headers = { 'content-type': 'application/json', ...(key && { 'x-api-key': key }) };
  const response = await fetch(new URL('/graphql', url), {
    method: 'POST',
    headers,
    body: JSON.stringify({ query, variables }),
    signal: AbortSignal.timeout(15_000),
  }).catch((error: Error) => {
    throw new CommandError(`No gateway responds at ${url}: ${networkFault(error)}`);
  });
  const body = (await response.json().catch(() => undefined)) as
    | { data?: Data | null; errors?: { message: string; extensions?: { code?: string } }[] }
    | undefined;
  const [error] = body?.errors ?? [];
  if (!error && !body?.data)
    throw new CommandError(
      `${url} is not a Petstore Gateway: it responded with status ${response.status}, and not with a GraphQL response.`,
    );
  if (error) throw new CommandError(`${inFlags(error.message)}${HINTS[error.extensions?.code ?? ''] ?? ''}`);
  return body?.data as Data;
}

const HINTS: Readonly<Record<string, string>> = {
  UNAUTHENTICATED: ' Pass an admin key with --key or PETSTORE_API_KEY.',
  BAD_USER_INPUT: '\nSee --help for the options.',
};

/** Replaces the input fields in an error message by the flags that set them: `input.perMinute` by `--per-minute`. */
function inFlags(message: string): string {
  return message
    .replace(/^graceSeconds: (.*)$/, '--grace: $1 seconds')
    .replace(/^days: /, '--days: ')
    .replace(/\binput\.(\w+)(\.\d+)?/g, (_path, field: string) =>
      field === 'expiresAt' ? '--expires' : `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    );
}

/** The reason why a request got no response. If all addresses of a host failed, the error has a code but no message. */
function networkFault({ message, cause }: Error): string {
  const { message: reason, code } = (cause ?? {}) as Partial<NodeJS.ErrnoException>;
  return reason || code || message;
}
