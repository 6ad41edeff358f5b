import { documentLimits } from '../../src/app/app';
import { readConfig } from '../../src/app/config';
import { contractSchema } from '../../src/app/contract';
import { Documents, hashOf } from '../../src/graphql/documents';
import { toyDomains } from '../toys/toys';

let documents: Documents;
beforeEach(() => {
  documents = new Documents(contractSchema(toyDomains()), documentLimits(readConfig({})));
});

/** Reads all documents. @returns how many of them are in the store afterwards. */
async function stored(texts: readonly string[]): Promise<number> {
  for (const text of texts) expect(documents.read(text)).toHaveProperty('definitions');
  const found = await Promise.all(texts.map((text) => documents.store.get(`prefix:${hashOf(text)}`)));
  return found.filter(Boolean).length;
}

const many = <T>(count: number, one: (index: number) => T) => Array.from({ length: count }, (_, i) => one(i));
const fields = (count: number) => many(count, (i) => `a${i}: name`).join(' ');

test('hundreds of ordinary documents stay in the store', async () => {
  expect(await stored(many(500, (i) => `query Q${i} { toys { nodes { id name broken } } }`))).toBe(500);
});

test('fewer documents stay in the store if they are long or have many variants', async () => {
  const plain = (i: number) => `query Q${i} { toy(id: 1) { ${fields(80)} } }`;
  const conditional = (i: number) =>
    `query Q${i}($a: Boolean!, $b: Boolean!, $c: Boolean!, $d: Boolean!) { toy(id: 1) {
      ${fields(80)} id @skip(if: $a) id @skip(if: $b) id @skip(if: $c) id @skip(if: $d) } }`;
  const long = (i: number) => `query Q${i} { toys(filter: { name: "${'x'.repeat(80_000)}" }) { nodes { id } } }`;
  expect(await stored(many(100, plain))).toBe(100);
  expect(await stored(many(100, conditional))).toBeLessThan(60);
  expect(await stored(many(20, long))).toBeLessThan(10);
});

test('a document whose operations share large fragments is not stored, and evicts no other document', async () => {
  const ordinary = '{ toys { nodes { id } } }';
  const fragment = `fragment F on Toy { ${many(40, () => 'id name broken madeAt').join(' ')} }`;
  const shared = `${many(60, (i) => `query Q${i} { toy(id: 1) { ...F } }`).join(' ')} ${fragment}`;
  expect(await stored([ordinary])).toBe(1);
  expect(await stored([shared, shared])).toBe(0);
  expect(await stored([ordinary])).toBe(1);
});
