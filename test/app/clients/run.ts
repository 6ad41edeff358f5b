/** Where the petstore is, the key to call it with, and how what was seen is told to who runs this. */
export const url = process.env.PETSTORE_URL ?? 'http://127.0.0.1:4000';
export const key = process.env.PETSTORE_API_KEY ?? '';

export function report(seen: object): void {
  process.stdout.write(JSON.stringify(seen));
}
