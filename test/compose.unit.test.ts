import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DCLinter } from 'dclint';
import { SETTING_NAMES } from '../src/config';
import { PROJECT } from './helper/command';
import { readCompose } from './helper/compose';

const { services, configs } = readCompose();
const GATEWAYS = Object.entries(services).filter(([name]) => name.startsWith('gateway'));

interface Linted {
  readonly messages: readonly {
    readonly rule: string;
    readonly type: string;
    readonly category: string;
    readonly message: string;
  }[];
}

/** What a linter finds in a compose.yaml, but for its taste, such as the order of keys. */
function faultsOf(text: string): string[] {
  const directory = mkdtempSync(join(tmpdir(), 'compose-'));
  writeFileSync(join(directory, 'compose.yaml'), text);
  const found: Linted[] = new DCLinter({ rules: {}, quiet: true, debug: false, exclude: [] }).lintFiles(
    [directory],
    false,
  );
  rmSync(directory, { recursive: true });
  return found
    .flatMap(({ messages }) => messages)
    .filter(({ type, category }) => type === 'error' || category === 'security')
    .map(({ rule, message }) => `${rule}: ${message}`);
}

test("compose.yaml fits the Compose specification's schema, and a linter's rules of security", () => {
  const text = readFileSync(join(PROJECT, 'compose.yaml'), 'utf8');
  expect(faultsOf(text)).toEqual([]);
  expect(faultsOf(text.replace('healthcheck:', 'healthchecks:'))).toEqual([expect.stringContaining('invalid-schema')]);
});

test('its gateways are told only what the gateway reads', () => {
  expect(GATEWAYS).toHaveLength(2);
  for (const [, { environment = {} }] of GATEWAYS) {
    expect(Object.keys(environment).length).toBeGreaterThan(5);
    expect(Object.keys(environment).filter((name) => !SETTING_NAMES.includes(name))).toEqual([]);
  }
});

test('its gateways have time to end what runs after the delay, and the delay is what the proxy needs to notice', () => {
  const seconds = (text = '') => Number(/^(\d+)s$/.exec(text)?.[1]);
  const proxy = (name: string) => seconds(new RegExp(`${name} (\\S+)`).exec(configs.caddyfile.content)?.[1]);
  for (const [, { environment = {}, stop_grace_period: grace }] of GATEWAYS) {
    const delay = Number(environment.SHUTDOWN_DELAY_MS) / 1000;
    expect(delay).toBeGreaterThan(proxy('health_interval') + proxy('health_timeout'));
    expect(seconds(grace)).toBeGreaterThan(delay + 10);
  }
});

test('what it names is there: services, configurations, the upstreams of the proxy', () => {
  const named = Object.values(services).flatMap(({ depends_on: needed = {} }) => Object.keys(needed));
  expect(named.filter((name) => !(name in services))).toEqual([]);
  expect(services.proxy?.configs?.map(({ source }) => source)).toEqual(Object.keys(configs));
  const upstreams = [...configs.caddyfile.content.matchAll(/(\S+):4000/g)].map(([, name]) => name);
  expect(upstreams).toEqual(GATEWAYS.map(([name]) => name));
});
