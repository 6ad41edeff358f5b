import { Client, cacheExchange, fetchExchange } from '@urql/core';
import { PetsDocument, PlaceOrderDocument } from './generated/graphql.js';
import { patientFetch } from './patient-fetch.js';
import { key, report, url } from './run.js';

const client = new Client({
  url: `${url}/graphql`,
  exchanges: [cacheExchange, fetchExchange],
  preferGetMethod: 'within-url-limit',
  fetch: patientFetch,
  fetchOptions: { headers: { 'x-api-key': key } },
});

const page = async (after?: string | null) => (await client.query(PetsDocument, { first: 2, after })).data?.pets;
const first = await page();
const second = await page(first?.pageInfo.endCursor);

const { error } = await client.mutation(PlaceOrderDocument, { petId: '1', quantity: 1000 });
const wrong = await client.query(PetsDocument, { first: 1000 });

report({
  names: [first, second].map((each) => each?.edges.map(({ node }) => node.name)),
  error: [error?.graphQLErrors[0]?.extensions.code, error?.networkError ?? null],
  wrong: [wrong.error?.graphQLErrors[0]?.extensions.details, wrong.error?.networkError ?? null],
});
