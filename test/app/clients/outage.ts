import { Client, fetchExchange, gql } from '@urql/core';
import { PetsDocument } from './generated/graphql.js';
import { patientFetch } from './patient-fetch.js';
import { key, report, url } from './run.js';

const headers = { 'x-api-key': key };
const client = new Client({
  url: `${url}/graphql`,
  exchanges: [fetchExchange],
  preferGetMethod: false,
  fetch: patientFetch,
  fetchOptions: { headers },
});
const ORDER = gql`mutation { placeOrder(input: { petId: 1, quantity: 1 }) { quantity } }`;
const once = { fetchOptions: { headers: { ...headers, 'Idempotency-Key': crypto.randomUUID() } } };

const pets = await client.query(PetsDocument, { first: 2 });
const order = await client.mutation(ORDER, {});
const orderOnce = await client.mutation(ORDER, {}, once);

report({
  pets: pets.data?.pets.edges.map(({ node }) => node.name),
  order: order.error?.graphQLErrors[0]?.extensions.code,
  orderOnce: [orderOnce.data, orderOnce.error?.graphQLErrors[0]?.extensions.code],
});
