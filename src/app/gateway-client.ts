import { setTimeout as sleep } from 'node:timers/promises';
import type { GraphQLCall } from '../domain/domain';
import { CommandError } from './run-command';

/** The options of commands that call a running gateway, for `parseArgs`. */
export const GATEWAY_OPTIONS = { url: { type: 'string' }, key: { type: 'string' } } as const;

export const GATEWAY_USAGE = `  --url URL    the running gateway (default: PETSTORE_URL, or http://127.0.0.1 at PORT or 4000)
  --key KEY    an admin key (default: PETSTORE_API_KEY or ADMIN_API_KEY)`;

/**
 * Returns a function that runs GraphQL operations on a running gateway. It waits if the quota per minute is used up.
 * Its errors are CommandErrors with a message for the user.
 */
export function gatewayClient(options: { url?: string; key?: string }, environment: NodeJS.ProcessEnv): GraphQLCall {
  const url = options.url ?? (environment.PETSTORE_URL || `http://127.0.0.1:${environment.PORT || 4000}`);
  const key = options.key ?? (environment.PETSTORE_API_KEY || environment.ADMIN_API_KEY || '');
  return (query, variables) => callGateway(url, key, query, variables);
}

/** The longest time that a command waits for quota, in seconds. */
const MAX_WAIT = 60;

async function callGateway<Data>(url: string, key: string, query: string, variables?: object): Promise<Data> {
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
  const retryAfter = Number(response.headers.get('retry-after'));
  if (response.status === 429 && retryAfter > 0 && retryAfter <= MAX_WAIT) {
    await response.body?.cancel();
    await sleep(retryAfter * 1000);
    return callGateway(url, key, query, variables);
  }
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
