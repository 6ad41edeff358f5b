import type { Scenario } from '../scenario';

const ENTITIES = `query ($representations: [_Any!]!) {
  _entities(representations: $representations) {
    __typename
    ... on Pet { id name category { name } }
    ... on Category { id pets(first: 1) { nodes { name } } }
    ... on Order { id quantity pet { name } }
    ... on InventoryItem { petId stock: quantity of: pet { name } }
  }
}`;
const pet = { __typename: 'Pet', id: 1 };

const REPRESENTATIONS: unknown[] = [
  [pet],
  [
    { __typename: 'InventoryItem', petId: '1' },
    { __typename: 'Order', id: '1' },
    { __typename: 'Category', id: 2 },
    { __typename: 'Pet', id: '2' },
  ],
  [
    pet,
    pet,
    { __typename: 'Pet', id: 99 },
    { __typename: 'Order', id: '9223372036854775807' },
    { __typename: 'InventoryItem', petId: 12 },
  ],
  [],
  [{ ...pet, name: 'Another', stars: 5 }],
  [
    { __typename: 'Pet' },
    { __typename: 'Dog', id: 1 },
    { id: 1 },
    { __typename: 'InventoryItem', id: 1 },
    { __typename: 'Pet', id: 0 },
    { __typename: 'Pet', id: 'x' },
    pet,
  ],
  [null],
  ['Pet'],
  [[pet]],
  [{ __typename: 'Viewer' }],
  [{ __typename: 'Pet', nodeId: 'UGV0OjE' }],
  pet,
  null,
  'x',
  Array.from({ length: 100 }, (_, i) => ({ __typename: 'Pet', id: (i % 12) + 1 })),
  Array.from({ length: 101 }, () => pet),
];

export const scenarios: Scenario[] = [
  {
    name: 'graphql federation',
    settings: { SUBGRAPH: 'true' },
    run: async (net) => {
      await net.shop();
      for (const representations of REPRESENTATIONS) await net.graphql(ENTITIES, { representations });
      await net.graphql(ENTITIES);
      await net.graphql(
        '{ _entities(representations: [{ __typename: "Pet", id: 1 }, { __typename: "Category", id: "3" }]) { ... on Pet { name orders { totalCount } } ... on Category { name } } }',
      );
      await net.graphql('{ _entities(representations: [{ __typename: "Pet", id: 1.5 }]) { __typename } }');
      await net.graphql('{ _entities { __typename } }');
      await net.graphql('{ a: _entities(representations: []) { __typename } _service { __typename } }');
      await net.graphql(
        '{ __type(name: "_Entity") { kind possibleTypes { name } } any: __type(name: "_Any") { kind } service: __type(name: "_Service") { fields { name type { kind ofType { name } } } } }',
      );
      await net.graphql(ENTITIES, { representations: [pet] }, { as: net.anonymous() });
      const { status, headers, json } = await net.exchange('POST', '/graphql', {
        body: { query: '{ _service { sdl } }' },
        as: net.anonymous(2),
      });
      const { sdl } = json.data._service;
      const types = [...sdl.matchAll(/^(?:extend )?(?:type|interface|union) \w+[^{=\n]*(?:\n +@[^\n]*)*/gm)].map(
        ([text]) => text.replace(/\s+/g, ' '),
      );
      const links = [...sdl.matchAll(/@link\(.*federation.*\)/g)].map(([text]) => text);
      net.note('_service', [
        status,
        headers['x-ratelimit-remaining'],
        json.extensions.cost.operation,
        ...links,
        ...types.filter((text) => /@|_/.test(text)),
      ]);
      const served = await net.exchange('GET', '/schema.graphql');
      net.note('/schema.graphql', served.text === sdl ? 'is the same text' : 'is another text');
    },
  },
];
