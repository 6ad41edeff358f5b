// @ts-check
/** @returns {Promise<string>} the example operations, as the text of one GraphQL document */
export async function exampleDocument() {
  const response = await fetch(new URL('examples.graphql', import.meta.url));
  if (!response.ok) throw new Error(`The status of the examples is ${response.status}.`);
  return response.text();
}
