import type { Gateway } from '../helper/gateway';
import { fillToys, startToys } from '../toys/gateway';

// The topics of the feed are the topics of the domains.

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startToys();
  await fillToys(gateway.database);
});
afterAll(() => gateway.close());

test('a domain has its topics in the feed without further code', async () => {
  await gateway.data('mutation { createToy(input: { name: "Robot" }) { id } }');
  await gateway.data('mutation { updateToy(id: 4, input: { name: "Robot 2" }) { id } }');
  const { events } = await gateway.data('{ events(topics: [TOY]) { nodes { topic kind objectId node { nodeId } } } }');
  const toy = { topic: 'TOY', objectId: '4', node: null };
  expect(events?.nodes).toEqual([
    { ...toy, kind: 'CREATED' },
    { ...toy, kind: 'UPDATED' },
  ]);
  const { __type: topics } = await gateway.data('{ __type(name: "EventTopic") { enumValues { name } } }');
  expect(topics?.enumValues).toEqual([{ name: 'TOY' }, { name: 'API_KEY' }]);
});
