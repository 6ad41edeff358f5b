/** `fetch`, which waits as long as it is told when the caller has asked too often or the service is busy. */
export async function patientFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    // A body can be read once: each try has a copy.
    const response = await fetch(input instanceof Request ? input.clone() : input, init);
    if ((response.status !== 429 && response.status !== 503) || attempt === 5) return response;
    const seconds = Number(response.headers.get('retry-after') ?? 2 ** attempt);
    // Clients that were refused together should not all come back together.
    await new Promise((resolve) => setTimeout(resolve, (seconds + Math.random()) * 1000));
  }
}
