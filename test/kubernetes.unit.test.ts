import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Deployment } from 'kubernetes-types/apps/v1';
import type { Probe, Service } from 'kubernetes-types/core/v1';
import ts from 'typescript';
import { parseAllDocuments } from 'yaml';
import { SETTING_NAMES } from '../src/config';
import { PROJECT } from './helper/command';
import { readDockerfile } from './helper/dockerfile';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

const FILE = readFileSync(join(PROJECT, 'docs/kubernetes/gateway.yaml'), 'utf8');
const MANIFESTS: Manifest[] = parseAllDocuments(FILE).map((document) => document.toJS());
const of = <Kind>(kind: string) => MANIFESTS.find((manifest) => manifest.kind === kind) as Kind;
const pod = of<Deployment>('Deployment').spec?.template.spec;
const [gateway] = pod?.containers ?? [];

/** What TypeScript says of manifests that are written as what Kubernetes' API has: fields missing, unknown, or of another type. */
function faultsOf(manifests: readonly Manifest[]): string[] {
  const directory = mkdtempSync(join(tmpdir(), 'kubernetes-'));
  const file = join(directory, 'manifests.ts');
  const lines = manifests.map((manifest) => {
    const [, group = 'core', version] = /^(?:(\w+)\/)?(\w+)$/.exec(manifest.apiVersion) ?? [];
    const from = join(PROJECT, 'node_modules', 'kubernetes-types', group, version ?? '');
    return `export const ${manifest.kind}: import('${from}').${manifest.kind} = ${JSON.stringify(manifest)};`;
  });
  writeFileSync(file, lines.join('\n'));
  const program = ts.createProgram([file], { strict: true, noEmit: true, skipLibCheck: true, types: [] });
  const found = ts.getPreEmitDiagnostics(program);
  rmSync(directory, { recursive: true });
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

describe('the manifests for Kubernetes', () => {
  test("are what Kubernetes' API has", () => {
    expect(MANIFESTS.map(({ kind }) => kind)).toEqual([
      'Deployment',
      'Service',
      'PodDisruptionBudget',
      'HorizontalPodAutoscaler',
    ]);
    expect(faultsOf(MANIFESTS)).toEqual([]);
    const wrong = JSON.parse(JSON.stringify(MANIFESTS).replace('readinessProbe', 'readynessProbe'));
    expect(faultsOf(wrong)).toEqual([expect.stringMatching(/readynessProbe.* does not exist/)]);
  });

  test('are all of the same pods', () => {
    const { selector, template } = of<Deployment>('Deployment').spec ?? {};
    const { labels } = template?.metadata ?? {};
    expect(labels).toEqual({ 'app.kubernetes.io/name': 'petstore-gateway' });
    const selectors = [
      selector?.matchLabels,
      of<Service>('Service').spec?.selector,
      pod?.topologySpreadConstraints?.[0],
    ];
    expect(selectors).toMatchObject([labels, labels, { labelSelector: { matchLabels: labels } }]);
    const { spec: budget } = of<{ spec: { selector: object } }>('PodDisruptionBudget');
    expect(budget.selector).toEqual({ matchLabels: labels });
    const { spec: scaler } = of<{ spec: { scaleTargetRef: object } }>('HorizontalPodAutoscaler');
    expect(scaler.scaleTargetRef).toMatchObject({ kind: 'Deployment', name: of<Manifest>('Deployment').metadata.name });
  });

  test('set only what the gateway reads, the Secret included', () => {
    const set = gateway?.env?.map(({ name }) => name) ?? [];
    const secret = [...FILE.matchAll(/--from-literal=([A-Z_]+)=/g)].map(([, name = '']) => name);
    expect([set.length, secret.length]).toEqual([4, 3]);
    expect([...set, ...secret].filter((name) => !SETTING_NAMES.includes(name))).toEqual([]);
  });

  test('ask the ports that the image opens for the paths of the probes', () => {
    const setTo = (name: string) => gateway?.env?.find((variable) => variable.name === name)?.value;
    const image = readDockerfile().at(-1)?.instructions ?? [];
    const port = Number(image.find(({ name }) => name === 'EXPOSE')?.text);
    const ports = gateway?.ports?.map(({ name, containerPort }) => [name, containerPort]);
    expect(ports).toEqual([
      ['http', port],
      ['metrics', Number(setTo('METRICS_PORT'))],
    ]);
    expect(of<Service>('Service').spec?.ports?.[0]?.targetPort).toBe('http');
    const path = (probe?: Probe) => `${probe?.httpGet?.port} ${probe?.httpGet?.path}`;
    const { startupProbe, livenessProbe, readinessProbe } = gateway ?? {};
    expect([startupProbe, livenessProbe, readinessProbe].map(path)).toEqual([
      'http /livez',
      'http /livez',
      'http /readyz',
    ]);
  });

  test('give a pod time to end what runs after the delay, and probes time to notice within it', () => {
    const delay = Number(gateway?.env?.find(({ name }) => name === 'SHUTDOWN_DELAY_MS')?.value) / 1000;
    const { periodSeconds = 0, timeoutSeconds = 0, failureThreshold = 0 } = gateway?.readinessProbe ?? {};
    expect(delay).toBeGreaterThan((periodSeconds + timeoutSeconds) * failureThreshold);
    expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(delay + 10);
  });

  test("run as the image's user, who is not root and may write nowhere", () => {
    expect(pod?.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(gateway?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });
});
