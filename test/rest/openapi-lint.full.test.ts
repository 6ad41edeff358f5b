import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { startGateway } from '../helper/gateway';
import { send } from './client';

const LINTERS = join(__dirname, 'openapi-linters.mjs');

/** What Redocly's recommended rules find, warnings included, and the errors of Spectral's for OWASP's API Security Top 10. */
function lint(document: string): { redocly: string[]; owasp: string[] } {
  return JSON.parse(execFileSync(process.execPath, [LINTERS], { input: document, encoding: 'utf8' }));
}

test('linters find nothing wrong with the document', async () => {
  const gateway = await startGateway();
  const { text } = await send(gateway, 'GET /openapi.json');
  await gateway.close();
  expect(lint(text)).toEqual({ redocly: [], owasp: [] });
});
