import type { Scenario } from '../scenario';

const WRONG_IDS = [
  '0',
  '-1',
  '1.5',
  '1e3',
  '9223372036854775808',
  '"9223372036854775808"',
  '"abc"',
  '"01"',
  '" 1"',
  '""',
  'true',
  '[1]',
  '{}',
  'abc',
  '"１"',
];

const ROOT_FIELDS = [
  '{ pet(id: 1) { __typename nodeId id name status categoryId } }',
  '{ pet(id: "2") { name category { id name description } inventory { petId quantity status } orders { totalCount } } }',
  '{ pet(id: 12) { inventory { quantity } orders { nodes { id } } } }',
  '{ pet(id: 99) { id } max: pet(id: "9223372036854775807") { id } }',
  '{ category(id: 1) { __typename nodeId id name description } none: category(id: 2) { description } }',
  '{ category(id: 3) { description pets { nodes { name } } } }',
  '{ category(id: 99) { id pets { nodes { id } } } }',
  '{ order(id: 2) { __typename nodeId id petId quantity shipDate complete pet { id name } } }',
  '{ order(id: 3) { petId quantity shipDate complete pet { id } } order4: order(id: 4) { complete shipDate } }',
  '{ order(id: 99) { id } }',
  '{ inventoryItem(petId: 4) { __typename nodeId petId quantity status pet { name } } }',
  '{ untracked: inventoryItem(petId: 7) { quantity } none: inventoryItem(petId: 99) { quantity } }',
  '{ pets { nodes { id name status categoryId } } }',
  '{ categories { nodes { id name description } } }',
  '{ orders { nodes { id petId quantity shipDate complete } } }',
  '{ inventory { nodes { petId quantity status } } }',
  '{ rateLimit { plan cost windows { name limit remaining resetAt } bannedUntil } }',
  '{ viewer { plan scopes rateLimit { plan cost windows { name limit remaining resetAt } bannedUntil } } }',
  '{ viewer { usage(days: 0) { date requests refused bans } } }',
  '{ viewer { usage(days: 401) { date } } }',
  '{ pet { id } category(id: null) { id } order(petId: 1) { id } }',
  `{ ${WRONG_IDS.map((id, i) => `p${i}: pet(id: ${id}) { id }`).join(' ')} }`,
  '{ category(id: 0) { id } order(id: "x") { id } inventoryItem(petId: 1.5) { petId } node(id: "no") { nodeId } nodes(ids: [1, 0]) { nodeId } }',
  '{ pet(id: "abcdefghijkl") { id } category(id: "abcdefghijkl") { id } }',
  '{ pet(id: "UGV0OjE") { id } order(id: "UGV0OjE") { id } inventoryItem(petId: "UGV0OjE") { petId } category(id: 1) { id } }',
];

const NODES = [
  '{ node(id: "@Pet") { __typename nodeId ... on Pet { id name category { name } } } }',
  '{ node(id: "@Category") { ... on Category { name pets(first: 1) { nodes { name } } } ... on Pet { name } } }',
  '{ node(id: "@Order") { ... on Order { quantity pet { name } } ... on Node { __typename } } }',
  '{ node(id: "@InventoryItem") { ... on InventoryItem { quantity pet { nodeId } } } }',
  '{ node(id: "1") { nodeId } }',
  '{ node(id: 1) { nodeId } }',
  '{ node(id: "") { nodeId } }',
  '{ node(id: "UGV0Og") { nodeId } }',
  '{ node(id: "@Pet") { name } }',
  '{ nodes(ids: ["@Order", "@Pet", "@Pet", "@Category", "@InventoryItem"]) { __typename nodeId ... on Pet { name orders { totalCount } } } }',
  '{ nodes(ids: "@Pet") { ... on Pet { name } } }',
  '{ nodes(ids: []) { nodeId } }',
  '{ nodes(ids: ["@Pet", "x", "@Order", ""]) { nodeId } }',
  '{ nodes(ids: ["@Pet", null]) { nodeId } }',
  '{ nodes(ids: [@many]) { nodeId } }',
  '{ a: nodes(ids: ["@Pet"]) { ...name } b: node(id: "@Category") { ...name } } fragment name on Node { nodeId ... on Pet { name } ... on Category { name } }',
];

const SELECTIONS = [
  '{ __typename }',
  '{ a: __typename b: __typename pet(id: 1) { t: __typename kind: __typename } }',
  '{ first: pet(id: 1) { called: name } second: pet(id: 2) { called: name name } }',
  '{ pet(id: 1) { ...names ...names category { ...on Category { name } } } } fragment names on Pet { name category { id } }',
  '{ pet(id: 1) { ... { name } ... on Node { nodeId } ... on Pet { id } ... @include(if: true) { status } } }',
  '{ pet(id: 1) { name id name category { id } category { name } orders(first: 1) { nodes { id } } orders(first: 1) { totalCount } } }',
  '{ pet(id: 1) { id name } pet(id: 1) { status } ...Q } fragment Q on Query { pet(id: 1) { category { name } } }',
  '{ a: pets(first: 2) { nodes { id } } b: pets(last: 2) { nodes { name } } c: pets(first: 2, orderBy: { field: NAME }) { nodes { id name } } }',
  '{ category(id: 1) { a: pets(first: 1) { nodes { id } } b: pets(last: 1) { nodes { id name } } c: pets(filter: { statuses: sold }) { totalCount } } }',
  '{ pets(first: 2) { nodes { id name } edges { node { name category { name } } } edges { cursor } __typename } }',
  '{ pets(first: 2) { e: edges { n: node { i: id } cursor __typename } n: nodes { id } m: nodes { name } } }',
  '{ pets(first: 1) { pageInfo { hasNextPage __typename } } }',
  '{ pets(first: 1) { __typename } }',
  '{ orders(first: 2) { nodes { pet { id ...on Pet { inventory { quantity pet { name } } } } } } }',
  'query A { pet(id: 1) { name @skip(if: true) id @include(if: false) status @skip(if: false) @include(if: true) } }',
  '{ pet(id: 1) { name @skip(if: true) } }',
  '{ pet(id: 1) @include(if: false) { name } }',
  '{ pet(id: 1) @skip(if: true) { name } category(id: 1) { name } }',
  '{ pet(id: 1) { ...F @skip(if: true) ... on Pet @include(if: true) { id } } } fragment F on Pet { name }',
];

const NESTED = [
  '{ categories { nodes { name pets { nodes { name orders { nodes { id quantity } } } } } } }',
  '{ categories(last: 2) { edges { cursor node { pets(first: 2, orderBy: { field: NAME, direction: DESC }) { totalCount edges { cursor node { id orders(last: 1) { totalCount pageInfo { hasPreviousPage hasNextPage } edges { cursor node { id } } } } } } } } } }',
  '{ pets(first: 3) { nodes { category { pets(last: 1) { nodes { category { name } } } } } } }',
  '{ orders { nodes { pet { category { pets(first: 1, filter: { statuses: [pending] }) { nodes { inventory { quantity } } } } } } } }',
  '{ inventory(orderBy: { field: QUANTITY, direction: DESC }, first: 2) { nodes { pet { orders(orderBy: { field: SHIP_DATE, direction: DESC }) { nodes { shipDate } } category { id } } } } }',
  '{ category(id: 3) { pets { nodes { orders { nodes { id } } inventory { quantity } } } } }',
  '{ a: category(id: 1) { pets { nodes { orders(filter: { complete: false }) { nodes { pet { name } } } } } } b: category(id: 2) { pets { nodes { orders(filter: { complete: true }) { nodes { id } } } } } }',
  '{ node(id: "Q2F0ZWdvcnk6MQ") { ... on Category { pets(first: 2) { nodes { orders(first: 1) { nodes { id pet { id } } } } } } } }',
];

const FAILURES = [
  '{ pet(id: 1) { name orders(first: 0) { totalCount } } category(id: 1) { name } }',
  '{ a: pet(id: 1) { orders(first: 0) { totalCount } } b: pet(id: 2) { orders(last: 101) { totalCount } } c: pet(id: 2) { name } }',
  '{ category(id: 1) { name } pets(first: 0) { totalCount } }',
  '{ categories(first: 1) { nodes { pets(first: 101) { totalCount } } } category(id: 2) { name } }',
  '{ order(id: 1) { pet { orders(after: "x") { totalCount } } } rateLimit { cost } }',
  '{ nodes(ids: ["UGV0OjE", "UGV0OjI"]) { ... on Pet { name orders(first: -1) { totalCount } } } }',
];

export const scenarios: Scenario[] = [
  {
    name: 'graphql queries',
    run: async (net) => {
      await net.shop();
      for (const query of ROOT_FIELDS) await net.graphql(query);
      await net.graphql('{ viewer { plan scopes apiKey { name } } pets(first: 1) { nodes { id } } }', undefined, {
        as: net.anonymous(),
      });
      await net.graphql('mutation { createCategory(input: { name: "Fish" }) { id } }', undefined, {
        as: net.anonymous(),
      });
      const { json } = await net.exchange('POST', '/graphql', {
        body: {
          query:
            '{ Pet: pet(id: 1) { nodeId } Category: category(id: 1) { nodeId } Order: order(id: 1) { nodeId } InventoryItem: inventoryItem(petId: 1) { nodeId } }',
        },
      });
      const nodeIds = new Map(Object.entries<{ nodeId: string }>(json.data).map(([type, row]) => [type, row.nodeId]));
      const many = Array.from({ length: 101 }, () => `"${nodeIds.get('Pet')}"`).join(' ');
      for (const query of NODES) await net.graphql(query.replace(/@(\w+)/g, (_, name) => nodeIds.get(name) ?? many));
      for (const query of [...SELECTIONS, ...NESTED, ...FAILURES]) await net.graphql(query);
      const query =
        'query ($a: Boolean!, $b: Boolean = true) { pet(id: 1) { id name @include(if: $a) status @skip(if: $a) ...F @include(if: $b) } category(id: 1) @skip(if: $b) { name } } fragment F on Pet { category { name @skip(if: $a) id } }';
      for (const variables of [
        { a: true },
        { a: false },
        { a: true, b: false },
        { a: false, b: false },
        { a: null },
        {},
        { a: 'true' },
      ])
        await net.graphql(query, variables);
    },
  },
];
