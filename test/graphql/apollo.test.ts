import 'reflect-metadata';
import { createHash } from 'node:crypto';
import type { ApolloServerPlugin } from '@apollo/server';
import * as apollo from '../../src/graphql/apollo';
import type { OperationRequest } from '../../src/graphql/context';
import { fillShop } from '../helper/database';
import { type Gateway, startGateway } from '../helper/gateway';

const seen: string[] = [];
/** An Apollo Server plugin that records the stages of each operation. */
const recorder: ApolloServerPlugin<OperationRequest> = {
  requestDidStart: async () => ({
    parsingDidStart: async () => void seen.push('parse'),
    didResolveOperation: async ({ operationName }) => void seen.push(`run ${operationName}`),
    willSendResponse: async ({ response }) => void seen.push(`respond ${response.http.status}`),
  }),
};

let gateway: Gateway;
beforeAll(async () => {
  const { createApollo } = apollo;
  jest
    .spyOn(apollo as { createApollo: unknown }, 'createApollo', 'get')
    .mockReturnValue((...[executor, documents]: Parameters<typeof createApollo>) =>
      createApollo(executor, documents, [recorder]),
    );
  gateway = await startGateway({});
  await fillShop(gateway.database);
});
beforeEach(() => {
  seen.length = 0;
});
afterAll(() => gateway.close());

const query = 'query Pet($id: ID!) { pet(id: $id) { id } }';
const variables = { id: '1' };
const sha256Hash = createHash('sha256').update(query).digest('hex');
const extensions = { persistedQuery: { version: 1, sha256Hash } };

const post = (payload: object) => gateway.app.inject({ method: 'POST', url: '/graphql', payload });
const get = (parameters: Record<string, object | string>) => {
  const texts = Object.entries(parameters).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return gateway.app.inject({ url: `/graphql?${new URLSearchParams(Object.fromEntries(texts))}` });
};

test('a plugin sees operations in every form of request; stored documents are not parsed again', async () => {
  await post({ query, variables });
  expect(seen).toEqual(['parse', 'run Pet', 'respond 200']);
  seen.length = 0;
  const responses = [
    await post({ query, variables }),
    await post({ query, variables, extensions }),
    await post({ variables, extensions }),
    await get({ query, variables }),
    await get({ variables, extensions }),
  ];
  expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200]);
  expect(seen).toEqual(responses.flatMap(() => ['run Pet', 'respond 200']));
});

test('a plugin sees operations with rejected documents', async () => {
  await post({ query: '{ pet(id: 1) { nothing } }' });
  await post({ query: '{ pet(' });
  expect(seen).toEqual(['parse', 'run null', 'respond 400', 'parse', 'respond 400']);
});
