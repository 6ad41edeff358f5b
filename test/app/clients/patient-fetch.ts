/** The longest wait, in seconds. When the quota of the day is used up, the response is returned. */
const LONGEST = 120;

/** `fetch` that waits as long as `Retry-After` says, and retries, after a 429 or if the service is unavailable. */
export async function patientFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    // A body can be read only once, so each attempt sends a copy.
    const response = await fetch(input instanceof Request ? input.clone() : input, init);
    const isRefused = response.status === 429 || response.status === 503;
    // GraphQL reports an outage in a response with status 200 and Retry-After.
    const isRetriable =
      isRefused || (response.headers.has('retry-after') && mayRepeat(input instanceof Request ? input : init));
    const seconds = Number(response.headers.get('retry-after') ?? 2 ** attempt);
    if (!isRetriable || attempt === 5 || seconds > LONGEST) return response;
    // Clients that were rejected at the same time should not all retry at the same time.
    const ms = (seconds + Math.random()) * 1000;
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    await new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    });
  }
}

/** Whether a GraphQL request that may have run in part is safe to repeat: it is a query or has an idempotency key. */
function mayRepeat({ method = 'GET', headers, body }: Request | RequestInit = {}): boolean {
  if (method === 'GET' || new Headers(headers).has('idempotency-key')) return true;
  if (typeof body !== 'string') return false;
  const { query = 'mutation' } = JSON.parse(body);
  return !/\bmutation\b/.test(query);
}
