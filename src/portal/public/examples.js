// @ts-check
/** @returns {Promise<string>} the example operations, as the text of one GraphQL document */
export async function exampleDocument() {
  return (await fetch(new URL('examples.graphql', import.meta.url))).text();
}
