import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Net, Scenario } from '../scenario';

const PET = 'query Pet($id: ID!) { pet(id: $id) { name ...Category } } fragment Category on Pet { category { name } }';
const RENAME = 'mutation Rename($name: String!) { updatePet(id: 1, input: { name: $name }) { name } }';
const WATCH = 'subscription Watch { petChanged { kind } }';
const OTHER = 'query Other { pets(first: 1) { nodes { name } } }';
const PETS = 'query Pets { pets(first: 2) { nodes { id } } }';

function hash(query: string): string {
  return createHash('sha256').update(query).digest('hex');
}

const MANIFEST = {
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations: [
    { id: 'pet', name: 'Pet', type: 'query', body: PET },
    { id: 'rename', name: 'Rename', type: 'mutation', body: RENAME },
    { id: 'watch', name: 'Watch', type: 'subscription', body: WATCH },
    { id: hash(PETS), name: 'Pets', type: 'query', body: PETS },
  ],
};

function manifest(name: string): string {
  return join(tmpdir(), `petstore-net-${process.pid}-${name}.json`);
}

function withManifest(name: string, settings: Record<string, string>): Record<string, string> {
  writeFileSync(manifest(name), JSON.stringify(MANIFEST));
  return { TRUSTED_DOCUMENTS: manifest(name), ...settings };
}

const named = (query: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash: hash(query) } } });

const BODIES: [title: string, body: object][] = [
  ['an id', { documentId: 'pet', variables: { id: 1 } }],
  ['an id, and wrong variables', { documentId: 'pet', variables: { id: 'x' } }],
  ['an id, and an operationName', { documentId: 'pet', operationName: 'Pet', variables: { id: 1 } }],
  ['an id, and a wrong operationName', { documentId: 'pet', operationName: 'Dog', variables: { id: 1 } }],
  ['a hash', { documentId: `sha256:${hash(PET)}`, variables: { id: 2 } }],
  [
    'a hash as an id of Apollo',
    { extensions: { persistedQuery: { version: 1, sha256Hash: 'pet' } }, variables: { id: 1 } },
  ],
  ['the hash of Apollo', { ...named(PETS) }],
  ['the hash of Apollo, which is no id', { ...named(PET), variables: { id: 1 } }],
  ['a hash without its prefix', { documentId: hash(PET) }],
  ['an unknown id', { documentId: 'none' }],
  ['an unknown hash', { documentId: `sha256:${hash(OTHER)}` }],
  ['an unknown hash of Apollo', { ...named(OTHER) }],
  ['an id that is a number', { documentId: 1 }],
  ['an id that is null', { documentId: null, query: PETS }],
  ['an id, and the text', { documentId: 'pet', query: PET, variables: { id: 1 } }],
  ['an id, and an empty text', { documentId: 'pet', query: '', variables: { id: 1 } }],
  ['an id, and a hash', { documentId: 'pet', ...named(PETS), variables: { id: 1 } }],
  ['the text', { query: PET, variables: { id: 1 } }],
  [
    'the text, laid out otherwise',
    {
      query: `# A pet\n${PET.split(' fragment ')
        .map((part, i) => (i ? `fragment ${part}` : part))
        .reverse()
        .join('\n\n')
        .replaceAll(' { ', ' {\n  ')}`,
      variables: { id: 1 },
    },
  ],
  ['a text like it', { query: PET.replace('name', 'name id'), variables: { id: 1 } }],
  ['another text', { query: OTHER }],
  ['another text with its hash', { query: OTHER, ...named(OTHER) }],
  ['a listed text with its hash', { query: PETS, ...named(PETS) }],
  ['an invalid text', { query: '{ nothing }' }],
  ['an unparsable text', { query: '{' }],
  ['introspection', { query: '{ __schema { queryType { name } } }' }],
  ['what uses no quota', { query: '{ viewer { plan } rateLimit { plan } }' }],
  ['introspection and a pet', { query: '{ __typename pet(id: 1) { name } }' }],
  ['a mutation', { documentId: 'rename', variables: { name: 'Listed' } }],
  ['another mutation', { query: 'mutation { updatePet(id: 1, input: { name: "Never" }) { name } }' }],
  ['a subscription', { documentId: 'watch' }],
];

async function run(net: Net, name: string): Promise<void> {
  rmSync(manifest(name));
  await net.shop();
  const as = await net.key('writer', { scopes: ['WRITE'] });
  for (const [title, body] of BODIES) await net.rest('POST /graphql', { as, title, body });
  const get = (parameters: Record<string, string>) => `GET /graphql?${new URLSearchParams(parameters)}`;
  await net.rest(get({ documentId: 'pet', variables: '{"id":1}' }), { as });
  await net.rest(get({ documentId: 'none' }), { as });
  await net.rest(get({ documentId: 'rename', variables: '{"name":"x"}' }), { as });
  await net.rest(get({ query: OTHER }), { as });
  await net.rest('GET /pets?limit=1', { as });
  await net.rest('POST /graphql', { title: 'an admin', body: { query: OTHER } });
  await net.rest('POST /graphql', { title: 'an admin', body: { documentId: 'none' } });
  const accept = 'text/event-stream';
  await net.rest('POST /graphql/stream', {
    as,
    headers: { accept },
    body: { documentId: 'pet', variables: { id: 3 } },
  });
  await net.rest('POST /graphql/stream', { as, headers: { accept }, body: { query: OTHER } });
  await net.rest('POST /graphql/stream', { as, headers: { accept }, body: { documentId: 'none' } });
  const socket = await net.socket({ as });
  socket.send({ type: 'connection_init' });
  await socket.record('connection_init', 1);
  const payloads: [payload: object, messages: number][] = [
    [{ query: '', extensions: {}, documentId: 'pet', variables: { id: 1 } }, 2],
    [{ query: '', ...named(PETS) }, 2],
    [{ query: '', documentId: 'none' }, 1],
    [{ query: PET, variables: { id: 1 } }, 2],
    [{ query: OTHER }, name === 'only' ? 1 : 2],
  ];
  for (const [i, [payload, messages]] of payloads.entries()) {
    socket.send({ id: String(i), type: 'subscribe', payload });
    await socket.record(JSON.stringify(payload), messages);
  }
  socket.close();
}

export const scenarios: Scenario[] = [
  {
    name: 'graphql trusted documents',
    once: true,
    get settings() {
      return withManifest('all', {});
    },
    run: (net) => run(net, 'all'),
  },
  {
    name: 'graphql trusted documents only',
    once: true,
    get settings() {
      return withManifest('only', { TRUSTED_DOCUMENTS_ONLY: 'true' });
    },
    run: (net) => run(net, 'only'),
  },
];
