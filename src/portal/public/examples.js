// @ts-check
/** @returns {Promise<string>} all examples, as one document */
export async function exampleDocument() {
  return (await fetch(new URL('examples.graphql', import.meta.url))).text();
}

/** @returns {Promise<string[]>} one document per example: an operation with its comment */
export async function examples() {
  return (await exampleDocument()).trim().split(/\n\n(?=#)/);
}
