import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scenario } from '../scenario';

const PROJECT = join(__dirname, '..', '..', '..');

/** The served documents, each with the committed file that it must equal. */
const DOCUMENTS = { '/schema.graphql': 'schema.graphql', '/openapi.yaml': 'docs/openapi.yaml' };

export const scenarios: Scenario[] = [
  {
    name: 'documents',
    run: async (net) => {
      for (const [path, file] of Object.entries(DOCUMENTS)) {
        const { text } = await net.exchange('GET', path);
        const isSame = text === readFileSync(join(PROJECT, file), 'utf8');
        net.note(`GET ${path}`, isSame ? `the text of ${file}` : `not the text of ${file}: npm run schema`);
      }
      const [json, yaml] = [await net.exchange('GET', '/openapi.json'), await net.exchange('GET', '/openapi.yaml')];
      const operations = (text: string) => text.match(/operationId/g)?.length;
      net.note('operations in the OpenAPI document, as JSON and as YAML', [
        operations(json.text),
        operations(yaml.text),
      ]);
    },
  },
];
