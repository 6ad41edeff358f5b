import { Client, cacheExchange, fetchExchange } from '@urql/core';
import { CreatePetDocument, DeletePetDocument, PetsDocument, PlaceOrderDocument } from './generated/graphql.js';
import { patientFetch } from './patient-fetch.js';
import { key, report, url } from './run.js';

const client = new Client({
  url: `${url}/graphql`,
  exchanges: [cacheExchange, fetchExchange],
  preferGetMethod: false,
  fetch: patientFetch,
  fetchOptions: { headers: { 'x-api-key': key } },
});

const page = async (after?: string | null) => (await client.query(PetsDocument, { first: 2, after })).data?.pets;
const first = await page();
const second = await page(first?.pageInfo.endCursor);

const { error } = await client.mutation(PlaceOrderDocument, { petId: '1', quantity: 1000 });
const wrong = await client.query(PetsDocument, { first: 1000 });

const ofPets = { additionalTypenames: ['Pet'] };
const lunas = client.query(PetsDocument, { first: 10, filter: { name: 'Luna' } }, ofPets);

let shown: string[] | undefined;
lunas.subscribe(({ data }) => {
  shown = data?.pets.edges.map(({ node }) => node.name);
});

/** Waits until the list has this length, because urql refetches the list automatically. @returns the list. */
async function shows(length: number) {
  for (let tries = 100; tries && shown?.length !== length; tries--) await new Promise((done) => setTimeout(done, 20));
  return shown;
}
const empty = await shows(0);
const created = await client.mutation(CreatePetDocument, { input: { name: 'Luna', categoryId: '1' } });
const filled = await shows(1);
await client.mutation(DeletePetDocument, { id: created.data?.createPet?.id ?? '' });

report({
  names: [first, second].map((each) => each?.edges.map(({ node }) => node.name)),
  error: [error?.graphQLErrors[0]?.extensions.code, error?.networkError ?? null],
  wrong: [wrong.error?.graphQLErrors[0]?.extensions.details, wrong.error?.networkError ?? null],
  lists: [empty, filled, await shows(0)],
});
