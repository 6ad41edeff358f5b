import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { startGateway } from '../helper/gateway';
import { send } from './client';

/** What Redocly's recommended rules find, warnings included. */
function lint(document: string): string[] {
  const linter = join(__dirname, 'openapi-linter.mjs');
  return JSON.parse(execFileSync(process.execPath, [linter], { input: document, encoding: 'utf8' }));
}

test('a linter finds nothing wrong with the document', async () => {
  const gateway = await startGateway();
  const { text } = await send(gateway, 'GET /openapi.json');
  await gateway.close();
  expect(lint(text)).toEqual([]);
  expect(lint(text.replace('"operationId": "listPets"', '"operationId": "createPet"'))).not.toEqual([]);
});
