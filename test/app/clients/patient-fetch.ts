/** `fetch`, which waits as long as it is told when the caller has asked too often or the service is busy. */
export async function patientFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    // A body can be read once: each try has a copy.
    const response = await fetch(input instanceof Request ? input.clone() : input, init);
    const isRefused = response.status === 429 || response.status === 503;
    // GraphQL reports an outage in a 200.
    const isRetriable =
      isRefused || (response.headers.has('retry-after') && mayRepeat(input instanceof Request ? input : init));
    if (!isRetriable || attempt === 5) return response;
    const seconds = Number(response.headers.get('retry-after') ?? 2 ** attempt);
    // Clients that were refused together should not all come back together.
    await new Promise((resolve) => setTimeout(resolve, (seconds + Math.random()) * 1000));
  }
}

/** Whether a GraphQL request may run again, of which a part may have run: a query, or what its key makes run once. */
function mayRepeat({ method = 'GET', headers, body }: Request | RequestInit = {}): boolean {
  if (method === 'GET' || new Headers(headers).has('idempotency-key')) return true;
  if (typeof body !== 'string') return false;
  const { query = 'mutation' } = JSON.parse(body);
  return !/\bmutation\b/.test(query);
}
