import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { metricsOf, type Observed } from '../../../src/app/metric-table';
import { poolMetrics } from '../../../src/app/primary';
import { startGateway } from '../../helper/gateway';

const read = (file: string) => readFileSync(join(__dirname, '../../../docs', file), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
}
interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const RULES: Rule[] = parse(read('monitoring/alerts.yml')).groups.flatMap(({ rules }: { rules: Rule[] }) => rules);
const PANELS: Panel[] = JSON.parse(read('monitoring/dashboard.json')).panels;
const EXPRESSIONS: [where: string, expression: string][] = [
  ...RULES.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...PANELS.flatMap(({ title, targets = [] }) =>
    // Grafana replaces the variable `$__rate_interval`. It is not valid PromQL.
    targets.map(({ expr }): [string, string] => [title, expr.replaceAll('$__rate_interval', '5m')]),
  ),
];

/** The metrics that an expression reads, with the labels it selects by. */
function selectorsOf(expression: string): { name: string; labels: string[] }[] {
  const selectors: { name: string; labels: string[] }[] = [];
  parser.parse(expression).iterate({
    enter: (node) => {
      if (node.type.isError) throw new Error(`not PromQL at ${node.from}: ${expression}`);
      if (node.name !== 'VectorSelector') return;
      const text = expression.slice(node.from, node.to);
      const labels = [...text.matchAll(/[{,]\s*(\w+)\s*[=!]/g)].map(([, label = '']) => label);
      selectors.push({ name: text.replace(/[\s{[].*/s, ''), labels });
    },
  });
  return selectors;
}

/** Labels that Prometheus adds to every sample. */
const SCRAPE = new Set(['job', 'instance']);

/** The labels of each metric that a gateway exposes, by name. */
const exposed = new Map<string, Set<string>>();
beforeAll(async () => {
  const gateway = await startGateway({ REDIS_URL: 'redis://127.0.0.1:1' });
  await gateway.data('{ pets { totalCount } }');
  await gateway.app.inject({ url: '/pets' });
  const { body } = await gateway.app.inject({ url: '/metrics' });
  await gateway.close();
  // Adds metrics that have no samples yet, and metrics of the primary process.
  for (const { name, labels = [] } of [...metricsOf({} as Observed), ...poolMetrics()])
    exposed.set(`petstore_${name}`, new Set(labels));
  for (const [, name = '', labels = ''] of body.matchAll(/^(\w+)(\{[^}]*\})? /gm)) {
    const known = exposed.get(name) ?? new Set();
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label);
    exposed.set(name, known);
  }
  exposed.set('up', new Set());
});

test.each(EXPRESSIONS)('%s uses only metrics and labels that a gateway exposes: %s', (_where, expression) => {
  const selectors = selectorsOf(expression);
  expect(selectors.length).toBeGreaterThan(0);
  for (const { name, labels } of selectors) {
    expect([...exposed.keys()]).toContain(name);
    expect(labels.filter((label) => !SCRAPE.has(label) && !exposed.get(name)?.has(label))).toEqual([]);
  }
});

test('the runbook explains all alerts, and only alerts that exist', () => {
  const rows = [...read('operations.md').matchAll(/^\| `(Petstore\w+)` \|/gm)].map(([, name]) => name);
  expect(rows).toEqual(RULES.map(({ alert }) => alert));
});
