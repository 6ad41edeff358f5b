import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { SETTING_NAMES } from '../src/config';
import { freePort } from './helper/free-port';
import { startGateway } from './helper/gateway';
import { readSource } from './helper/imports';

const PROJECT = join(__dirname, '..');
const read = (file: string) => readFileSync(join(PROJECT, file), 'utf8');

const DOCKERFILE = read('Dockerfile')
  .split('\n')
  .filter((line) => line && !line.startsWith('#'))
  .map((line) => line.split(' '));
const COPIES = DOCKERFILE.filter(([instruction]) => instruction === 'COPY').map((words) => words.slice(1, -1));
const FROM_BUILD = COPIES.filter(([first]) => first === '--from=build').map((words) => words.slice(1));
const FROM_CONTEXT = COPIES.filter(([first]) => first !== '--from=build').flat();

/** The command of an instruction in its exec form: `CMD ["node", "dist/main.js"]`. */
function command(instruction: string): string[] {
  const words = DOCKERFILE.find(([first]) => first === instruction) ?? [];
  return JSON.parse(words.join(' ').replace(/^[^[]*/, ''));
}

test('the files the image is built from exist, and are in the build context', () => {
  const given = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  expect(FROM_CONTEXT).toEqual(expect.arrayContaining(['package.json', 'package-lock.json', 'src']));
  expect([...FROM_CONTEXT].sort()).toEqual(given.sort());
  expect(FROM_CONTEXT.filter((path) => !existsSync(join(PROJECT, path)))).toEqual([]);
});

test('the image starts what the build produces, as npm start does', () => {
  const paths = FROM_BUILD.flat().map((path) => path.replace(/^\/app\//, ''));
  expect(paths.filter((path) => !existsSync(join(PROJECT, path)))).toEqual([]);
  const { start } = JSON.parse(read('package.json')).scripts;
  expect(start).toBe(`NODE_ENV=production exec ${command('CMD').join(' ')}`);
  expect(command('CMD').at(-1)).toBe('dist/main.js');
  expect(paths).toContain('dist');
});

test('the image has everything that src needs at run time', () => {
  const { dependencies } = JSON.parse(read('package.json'));
  const [, leftOut = ''] = /npm uninstall (\S+)/.exec(read('Dockerfile')) ?? [];
  const { [leftOut]: _, ...there } = dependencies;
  expect(Object.keys(there)).toHaveLength(Object.keys(dependencies).length - 1);
  const needed = readdirSync(join(PROJECT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => readSource(`src/${path}`, read(`src/${path}`)).imports)
    .filter(({ from, typeOnly }) => !typeOnly && !from.startsWith('src/') && !isBuiltin(from))
    .map(({ from }) => from.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? from);
  expect([...new Set(needed)].filter((name) => !(name in there))).toEqual([]);
});

test('the health check distinguishes a gateway that responds from one that does not', async () => {
  const [program = '', ...args] = command('HEALTHCHECK');
  const check = (port: string) =>
    new Promise<number>((resolve) => {
      const child = execFile(program, args, { env: { PATH: process.env.PATH, PORT: port } });
      child.on('exit', (code) => resolve(code ?? -1));
    });
  const gateway = await startGateway();
  const { port } = new URL(await gateway.listen());
  expect(await Promise.all([check(port), check(String(await freePort()))])).toEqual([0, 1]);
  await gateway.close();
});

test('the gateway reads every variable that the image sets for it', () => {
  const env = DOCKERFILE.find(([instruction]) => instruction === 'ENV')?.slice(1) ?? [];
  const set = env.map((pair) => pair.replace(/=.*/, ''));
  expect(set.length).toBeGreaterThan(2);
  expect(set.filter((name) => !SETTING_NAMES.includes(name))).toEqual([]);
});
