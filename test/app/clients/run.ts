/** The URL and key of the petstore, and a function that reports results to the test that runs the client. */
export const url = process.env.PETSTORE_URL ?? 'http://127.0.0.1:4000';
export const key = process.env.PETSTORE_API_KEY ?? '';

export function report(seen: object): void {
  process.stdout.write(JSON.stringify(seen));
}
