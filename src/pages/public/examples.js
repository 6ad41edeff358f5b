// @ts-check
/** @returns {Promise<string>} every example, as one document */
export async function exampleDocument() {
  return (await fetch(new URL('examples.graphql', import.meta.url))).text();
}

/** @returns {Promise<string[]>} a document for each: an operation under its comment */
export async function examples() {
  return (await exampleDocument()).trim().split(/\n\n(?=#)/);
}
