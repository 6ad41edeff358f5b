import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { startGateway } from '../helper/gateway';
import { send } from './client';

const LINTERS = join(__dirname, 'openapi-linters.mjs');

/** What Redocly's recommended rules find, warnings included, and the errors of Spectral's for OWASP's API Security Top 10. */
function lint(document: string): { redocly: string[]; owasp: string[] } {
  return JSON.parse(execFileSync(process.execPath, [LINTERS], { input: document, encoding: 'utf8' }));
}

let source: string;
beforeAll(async () => {
  const gateway = await startGateway();
  source = (await send(gateway, 'GET /openapi.json')).text;
  await gateway.close();
});

test('linters find nothing wrong with the document', () => {
  expect(lint(source)).toEqual({ redocly: [], owasp: [] });
});

test('they would find an operation without an id, an invalid example, an unbounded list', () => {
  const document = JSON.parse(source);
  delete document.paths['/pets'].get.operationId;
  document.components.schemas.Pet.example.id = 'one';
  delete document.components.schemas.Pets.maxItems;
  const { redocly, owasp } = lint(JSON.stringify(document));
  expect(redocly.join('\n')).toMatch(/^operation-operationId /m);
  expect(redocly.join('\n')).toMatch(/^no-invalid-schema-examples /m);
  expect(owasp.join('\n')).toContain('owasp:api4:2023-array-limit components.schemas.Pets');
});
