import 'reflect-metadata';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { AllowedMethods } from '../../src/http/allowed-methods';
import { PHASES, pipeline, type ServerOptions } from '../../src/http/server';
import { PROJECT } from '../helper/command';
import { type Gateway, startGateway } from '../helper/gateway';
import { ask, type Headers } from './client';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

// `pipeline` reads only these options when it creates the stages.
const OPTIONS = { requests: {}, portal: {}, errors: new Map() } as unknown as ServerOptions;
const STAGES = pipeline(OPTIONS, new AllowedMethods(), () => undefined);

/** @returns the number of hooks in each phase of each route, such as `onSend 1`. */
function hooksOfRoutes(app: FastifyInstance): string[] {
  const routes = app.printRoutes({ includeHooks: true, commonPrefix: false });
  return [...routes.matchAll(/• \((on(?:Re|Se|Er)\w+|pre\w+)\) (\[.*\])/g)].map(([, phase, functions = '[]']) => {
    // Fastify itself adds this hook to HEAD routes, to drop the body.
    const hooks = (JSON.parse(functions) as string[]).filter((name) => name !== 'headRouteOnSendHandler()');
    return `${phase} ${hooks.length}`;
  });
}

test('the stages of a request are listed in the order in which Fastify runs their phases', () => {
  const phases = STAGES.map(([phase]) => PHASES.indexOf(phase));
  expect(phases).toEqual([...phases].sort((a, b) => a - b));
});

test('docs/architecture.md lists the stages of the pipeline in the same order', () => {
  const text = readFileSync(join(PROJECT, 'docs', 'architecture.md'), 'utf8');
  const [, table = ''] = text.split('| phase | stage |');
  const rows = table
    .split('\n\n', 1)[0]
    ?.split('\n')
    .slice(2)
    .map((row) => row.split('|').map((cell) => cell.trim()));
  expect(rows?.map(([, phase, name]) => [phase, name])).toEqual(STAGES.map(([phase, name]) => [phase, name]));
});

test('every route has all hooks of the pipeline and no other hooks', () => {
  const hooks = hooksOfRoutes(gateway.server);
  const timesOf = (phase: string) => STAGES.filter(([each]) => each === phase).length;
  const wanted = ['onRequest', 'onSend', 'onResponse'].map((phase) => `${phase} ${timesOf(phase)}`);
  expect([...new Set(hooks)].sort()).toEqual(wanted.sort());
  expect(hooks.length / wanted.length).toBeGreaterThan(50);
});

test('only src/http/server.ts installs hooks on requests', () => {
  const hook =
    /addHook\(\s*'(?!onRoute|onReady|onListen|onClose|preClose)|^\s*(onRequest|preParsing|preValidation|preHandler|preSerialization|onSend|onResponse)\b[:,(]/m;
  const sources = readdirSync(join(PROJECT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && path !== join('http', 'server.ts'))
    .filter((path) => hook.test(readFileSync(join(PROJECT, 'src', path), 'utf8')));
  expect(sources).toEqual([]);
});

test('a request with several errors is rejected for the error that the pipeline checks first, with the common headers', async () => {
  const reader = await gateway.createKey({ scopes: ['READ'] });
  const writer = await gateway.createKey();
  const wrong: Headers = { 'x-api-key': 'wrong', accept: 'text/csv', 'content-type': 'text/xml' };
  // Each request corrects the error for which the previous request was rejected.
  const steps: [status: number, on: string, headers: Headers, body: string][] = [
    [401, 'POST /pets', wrong, '{'],
    [403, 'POST /pets', { ...wrong, ...reader.headers }, '{'],
    [406, 'POST /pets', { ...wrong, ...writer.headers }, '{'],
    [415, 'POST /pets', { ...writer.headers, 'content-type': 'text/xml' }, '{'],
    [400, 'POST /pets', writer.headers, '{'],
    [422, 'POST /pets', writer.headers, '{"name":"Rex","categoryId":77}'],
  ];
  for (const [status, on, headers, body] of steps) {
    const answer = await ask(gateway, on, { headers, body });
    expect([answer.status, answer.told.limit, answer.headers['access-control-allow-origin']]).toEqual([
      status,
      60,
      '*',
    ]);
  }
});
