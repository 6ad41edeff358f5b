import { buildSchema } from 'graphql';
import { contractSchema } from '../../src/app/contract';
import { gatewayDomains } from '../../src/app/domains';
import { prepareRoutes } from '../../src/rest/prepared-route';
import type { RestApi, RestRoute } from '../../src/rest/rest-route';

const SCHEMA = buildSchema(`
  type Query {
    thing(id: ID!): Thing
    things(first: Int, filter: Filter): Things
    pair(a: Int, b: Int): Thing
    nearest(place: String!): Thing
    colours(by: Colour): Thing
    count: Int!
    box: Box
  }
  type Mutation { createThing(input: NewThing!): Thing!  updateThing(id: ID!, input: ThingUpdate!): Thing! }
  type Thing { id: ID! name: String! size: Float }
  type Things { nodes: [Thing!]! pageInfo: PageInfo! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type Box { thing: Thing things: [Thing!]! }
  input Filter { weight: Float }
  input Colour { hue: Int }
  input NewThing { name: String! note: String }
  input ThingUpdate { name: String note: String }
`);

const prepare = (...operations: (Pick<RestRoute, 'on' | 'document'> & Partial<RestRoute>)[]) => {
  const tags = { things: { name: 'Things', description: '' } };
  const rows = operations.map((row): RestRoute => ({ ok: 200, summary: '', ...row }));
  return prepareRoutes(SCHEMA, { title: '', description: '', tags, routes: rows } satisfies RestApi);
};

const GET = 'query getThing($thingId: ID!) { thing(id: $thingId) { id name } }';
const PAGE = 'pageInfo { hasNextPage endCursor }';

test('the id of an operation is the name in its document, and its inputs are the variables of its document', () => {
  const [get, list, put] = prepare(
    { on: 'GET /things/{thingId}', document: GET },
    {
      on: 'GET /things',
      document: `query listThings($limit: Int = 20) { things(first: $limit) { nodes { id name } ${PAGE} } }`,
    },
    {
      on: 'PUT /things/{thingId}',
      body: 'NewThing',
      document: `mutation replaceThing($thingId: ID!, $name: String!, $note: String = null) {
        updateThing(id: $thingId, input: { name: $name, note: $note }) { id name }
      }`,
    },
  );
  expect([get?.id, [...(get?.inputs.path.keys() ?? [])], get?.payload.name]).toEqual([
    'getThing',
    ['thingId'],
    'Thing',
  ]);
  expect([list?.inputs.query.get('limit')?.fallback, list?.payload.name]).toEqual([20, 'Things']);
  expect(Object.fromEntries(put?.errorPaths ?? [])).toEqual({
    id: 'thingId',
    'input.name': 'name',
    'input.note': 'note',
  });
});

describe('startup fails if an operation cannot be derived from its document, with the reason:', () => {
  test.each<[reason: string, on: RestRoute['on'], document: string, more?: Partial<RestRoute>]>([
    ['no tag covers /dogs', 'GET /dogs', GET],
    ['Syntax Error', 'GET /things/{thingId}', 'query {'],
    ['Cannot query field "colour" on type "Thing"', 'GET /things', 'query q { nearest(place: "x") { colour } }'],
    ['Unknown type "NewDog"', 'POST /things', 'mutation m($i: NewDog!) { createThing(input: $i) { id } }'],
    ['the document must have one operation, with a name', 'GET /things', '{ box { thing { id } } }'],
    ['the document must have one operation', 'GET /things/{thingId}', `${GET} query other { count }`],
    [
      'the document must not use @skip',
      'GET /things',
      'query q($a: Boolean!) { box { thing { id name @skip(if: $a) } } }',
    ],
    ['the document must select one root field', 'GET /things', 'query q { box { thing { id } } count }'],
    ['Int is not an object type', 'GET /things', 'query q { count }'],
    [
      'the document does not select box.things',
      'GET /things',
      'query q { box { thing { id } } }',
      { payload: 'box.things' },
    ],
    ['the document does not select things.pageInfo', 'GET /things', 'query q { things { nodes { id } } }'],
    [
      'the document does not select things.pageInfo.endCursor',
      'GET /things',
      'query q { things { nodes { id } pageInfo { hasNextPage } } }',
    ],
    ['REST has no format for the type Float', 'GET /things/{a}', 'query q($a: ID!) { thing(id: $a) { id size } }'],
    ['/things/{id} has no variable $id', 'GET /things/{id}', GET],
    ['$thingId must be optional', 'GET /things', GET],
    ['$place must be optional', 'GET /things', 'query q($place: String!) { nearest(place: $place) { id } }'],
    ['$a must be the whole value of one argument', 'GET /things', 'query q($a: Int) { pair(a: $a, b: $a) { id } }'],
    [
      'REST has no inputs of the type Float',
      'GET /things',
      `query q($weight: Float) { things(filter: { weight: $weight }) { nodes { id } ${PAGE} } }`,
    ],
    ['REST has no inputs of the type Colour', 'GET /things', 'query q($c: Colour) { colours(by: $c) { id } }'],
    [
      '$note is in neither the path nor the body',
      'POST /things',
      'mutation m($note: String) { createThing(input: { name: "x", note: $note }) { id } }',
    ],
    [
      'Location /things/{id} needs id, which is none of name',
      'POST /things',
      'mutation m($i: NewThing!) { createThing(input: $i) { name } }',
      { ok: 201 },
    ],
    [
      'its Location /things/{box}/{id} is not the path of a GET operation',
      'POST /things/{box}',
      'mutation m($box: ID!, $i: ThingUpdate!) { updateThing(id: $box, input: $i) { id } }',
      { ok: 201 },
    ],
    [
      'Location /things/{name} needs name, which is none of box, id',
      'POST /things/{box}',
      'mutation m($box: ID!, $i: ThingUpdate!) { updateThing(id: $box, input: $i) { id } }',
      { ok: 201, location: '/things/{name}' },
    ],
    ['the message needs box', 'GET /things/{thingId}', GET, { missing: 'No thing in {box}.' }],
    [
      'the successor needs id',
      'GET /things/{thingId}',
      GET,
      { deprecation: { since: new Date(), sunset: new Date(), successor: '/things?id={id}' } },
    ],
    [
      'Thing is not an input type',
      'POST /things',
      'mutation m($name: String!) { createThing(input: { name: $name }) { id } }',
      { body: 'Thing' },
    ],
    [
      'NewThing has no variable $note',
      'POST /things',
      'mutation m($name: String!) { createThing(input: { name: $name }) { id } }',
      { body: 'NewThing' },
    ],
    [
      '$name has a different type from ThingUpdate.name',
      'POST /things',
      'mutation m($name: ID!, $note: String) { updateThing(id: $name, input: { note: $note }) { id } }',
      { body: 'ThingUpdate' },
    ],
    [
      'NewThing.note needs a variable with a default',
      'PUT /things/{thingId}',
      `mutation m($thingId: ID!, $name: String!, $note: String) {
        updateThing(id: $thingId, input: { name: $name, note: $note }) { id }
      }`,
      { body: 'NewThing' },
    ],
    [
      'ThingUpdate.name needs a variable with a default',
      'PUT /things/{thingId}',
      'mutation m($thingId: ID!, $input: ThingUpdate!) { updateThing(id: $thingId, input: $input) { id } }',
    ],
  ])('%s', (reason, on, document, more = {}) => {
    expect(() => prepare({ on, document, ...more })).toThrow(`REST operation ${on}: ${reason}`);
  });

  test('two operations select different fields of the same type', () => {
    const other = 'query nearest { box { thing { id } } }';
    const rows = [
      { on: 'GET /things/{thingId}', document: GET },
      { on: 'GET /things', document: other, payload: 'box.thing' },
    ] as const;
    expect(() => prepare(...rows)).toThrow(
      'REST operation GET /things: it selects { id } of Thing, but other operations select { id name }',
    );
  });
});

test('every REST operation of the gateway can be derived from its document', () => {
  const { rest } = gatewayDomains();
  expect(prepareRoutes(contractSchema(), rest)).toHaveLength(rest.routes.length);
});
