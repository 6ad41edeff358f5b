import { command } from '../helper/command';
import { blocksOf, Reader, stepsOf } from '../helper/documented';
import { Installation } from '../helper/installation';
import { inTerminal, quick } from '../helper/process';

const README = 'README.md';
const environment = { LOG_LEVEL: 'silent', PATH: process.env.PATH ?? '' };
const installation = new Installation(environment, inTerminal(quick(command('main'))));
afterAll(() => installation.remove());

test('the README shows what a start prints in a terminal, and its requests have the answers that it shows', async () => {
  const [start, ...steps] = stepsOf(README);
  expect(start?.commands.split('\n').map((line) => line.replace(/ +#.*/, ''))).toEqual([
    'npm ci && npm start',
    'npm ci && npm test',
  ]);
  const { stdout, url } = await installation.start();
  const adminKey = /Admin key +(\S+)/.exec(stdout)?.[1] ?? '';
  const [banner = ''] = blocksOf(README, '');
  const shown = banner
    .replaceAll('http://127.0.0.1:4000', url)
    .replace('/home/you/petstore-gateway/data', installation.data)
    .replace(/ps_\w+/, adminKey);
  expect(stdout.replaceAll('\r', '').trim()).toBe(shown.trim());

  expect(steps.length).toBeGreaterThan(3);
  const reader = new Reader(url, adminKey);
  for (const step of steps) expect([step.commands, await reader.type(step)]).toEqual([step.commands, step.output]);
});
