import { mkdirSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { PROJECT } from './command';
import { execForm, type Instruction, isInContext, readDockerfile } from './dockerfile';
import { ImageRoot, type Running } from './image-root';
import { endOf, run } from './run';

/** What the last stage of the Dockerfile makes. */
export interface Image {
  readonly root: ImageRoot;
  readonly running: Running;
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
  remove(): void;
}

/** A stage of the Dockerfile, as far as it is built. */
interface Built {
  readonly root: ImageRoot;
  running: Running;
  /** The words of its CMD and HEALTHCHECK. */
  readonly commands: Record<string, string[]>;
}

/** Carries out the Dockerfile's instructions in their order. @throws Error at the first that fails. */
export async function buildImage(): Promise<Image> {
  const stages = readDockerfile();
  const [version, ...others] = new Set(stages.map(({ base }) => /^node:([\d.]+)-bookworm-slim$/.exec(base)?.[1]));
  if (!version || others.length) throw new Error(`not made here: ${stages.map(({ base }) => base)}`);
  const base = await ImageRoot.ofNode(version);
  const built = new Map<string, Built>();
  const remove = () => {
    for (const { root } of built.values()) root.remove();
    base.remove();
  };
  try {
    const environment = await registry();
    for (const { name = 'image', instructions } of stages) {
      const running = { user: 'root', directory: '/', environment: {} };
      const stage: Built = { root: await base.above(), running, commands: {} };
      built.set(name, stage);
      for (const instruction of instructions) await carryOut(instruction, stage, built, environment);
    }
  } catch (error) {
    remove();
    throw error;
  }
  const { root, running, commands } = built.get('image') as Built;
  return { root, running, command: commands.CMD ?? [], healthCheck: commands.HEALTHCHECK ?? [], remove };
}

/** @param environment of commands, beside the image's own. */
async function carryOut(
  { name, text }: Instruction,
  stage: Built,
  built: ReadonlyMap<string, Built>,
  environment: Record<string, string>,
): Promise<void> {
  const { root, running } = stage;
  if (name === 'COPY') await copy(text.split(' '), stage, built);
  else if (name === 'RUN') {
    const all = { ...environment, ...running.environment };
    await endOf(root.spawn(['/bin/sh', '-c', text], { ...running, environment: all }), `RUN ${text}`);
  } else if (name === 'WORKDIR') {
    stage.running = { ...running, directory: resolve(running.directory, text) };
    mkdirSync(`${root.path}${stage.running.directory}`, { recursive: true });
  } else if (name === 'ENV') {
    const pairs = text.split(' ').map((pair) => pair.split('='));
    stage.running = { ...running, environment: { ...running.environment, ...Object.fromEntries(pairs) } };
  } else if (name === 'USER') stage.running = { ...running, user: text };
  else if (name === 'CMD' || name === 'HEALTHCHECK') stage.commands[name] = execForm(text);
  else if (name !== 'EXPOSE' && name !== 'STOPSIGNAL') throw new Error(`not carried out here: ${name}`);
}

async function copy(
  words: readonly string[],
  { root, running }: Built,
  built: ReadonlyMap<string, Built>,
): Promise<void> {
  const [, from] = /^--from=(.+)$/.exec(words[0] ?? '') ?? [];
  const sources = words.slice(from ? 1 : 0, -1);
  const last = words.at(-1) ?? '';
  const to = `${resolve(running.directory, last)}${last.endsWith('/') ? '/' : ''}`;
  if (sources.length > 1 && !to.endsWith('/')) throw new Error(`COPY of several to ${to}`);
  const stage = from === undefined ? undefined : built.get(from);
  if (from && !stage) throw new Error(`COPY from ${from}`);
  for (const source of sources) {
    if (stage) await root.copy(`${stage.root.path}${source}`, to);
    else await root.copy(resolve(PROJECT, source), to, (path) => isInContext(relative(PROJECT, path)));
  }
}

/** What a daemon is configured with, so that builds reach the registry: its address, certificates, proxies. */
async function registry(): Promise<Record<string, string>> {
  const proxies = Object.entries(process.env).filter(([name]) => /^(https?|no)_proxy$/i.test(name));
  return {
    npm_config_registry: (await run('npm', ['config', 'get', 'registry'])).trim(),
    NODE_EXTRA_CA_CERTS: ImageRoot.certificates,
    ...(Object.fromEntries(proxies) as Record<string, string>),
  };
}
