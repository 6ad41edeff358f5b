import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { command } from '../helper/command';
import { ADMIN_KEY, type Gateway, startGateway } from '../helper/gateway';

let gateway: Gateway;
let environment: Record<string, string>;
beforeAll(async () => {
  gateway = await startGateway();
  environment = { PETSTORE_URL: await gateway.listen(), PETSTORE_API_KEY: ADMIN_KEY };
});
afterAll(() => gateway.close());

test.each([
  ['its result to stdout, and exits with 0', ['list', '--json'], 0, /"first admin key"/, /^$/],
  ['its usage, and exits with 0', [], 0, /^Usage: /, /^$/],
  ['errors to stderr, and exits with 1', ['revoke', 'z'.repeat(12)], 1, /^$/, /^API key z{12} does not exist\.\n$/],
])('the command prints %s', async (_what, args, code, stdout, stderr) => {
  const [program, ...options] = command('app/keys');
  const child = spawn(program, [...options, ...args], { env: environment, cwd: tmpdir() });
  const [output, errors, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  expect(status).toBe(code);
  expect(output).toMatch(stdout);
  expect(errors).toMatch(stderr);
});
