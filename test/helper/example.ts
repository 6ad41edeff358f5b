import { execFile } from 'node:child_process';
import { cpSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT } from './command';
import { makeDirectory } from './installation';
import { copyData } from './prepared';
import { GatewayProcess } from './process';

const run = promisify(execFile);

/** What the product is built from, what it serves, and where `npm run schema` writes. */
const BUILT = ['package.json', 'tsconfig.json', 'prisma', 'src'];
const SERVED = ['docs', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'bench/README.md'];
const SOURCES = [...BUILT, ...SERVED];

const REFRESH = (patch: string) => `Refresh it in a clean checkout:
  git apply --3way ${patch}      # then repair what conflicts or does not compile
  git add -A && git diff --cached --full-index > /tmp/refreshed.patch
  git reset --hard && mv /tmp/refreshed.patch ${patch}`;

/** An example of CONTRIBUTING, applied to a copy of the product and built. */
export class Example {
  /** An empty data directory of the version before. */
  readonly data: string;
  private running: GatewayProcess | undefined;

  private constructor(private readonly directory: string) {
    this.data = join(directory, 'data');
    copyData(this.data);
  }

  /** Applies `docs/examples/<name>.patch`, and builds. @throws Error that says how to refresh a patch that is stale. */
  static async build(name: string): Promise<Example> {
    const directory = makeDirectory();
    const patch = join('docs', 'examples', `${name}.patch`);
    try {
      const changesModel = readFileSync(join(PROJECT, patch), 'utf8').includes('prisma/schema.prisma');
      for (const source of SOURCES) cpSync(join(PROJECT, source), join(directory, source), { recursive: true });
      symlinkSync(join(PROJECT, 'node_modules'), join(directory, 'node_modules'));
      // In a repository, git would apply nothing to files that are not in it.
      const env = { ...process.env, GIT_CEILING_DIRECTORIES: join(directory, '..') };
      await run('git', ['apply', join(PROJECT, patch)], { cwd: directory, env });
      if (changesModel) await run(process.execPath, [join('prisma', 'generate.mjs')], { cwd: directory });
      await run('npm', ['run', 'schema'], { cwd: directory });
      return new Example(directory);
    } catch (error) {
      rmSync(directory, { recursive: true });
      // The message ends with what the command wrote to stderr.
      const { stdout = '', message } = error as Error & { stdout?: string };
      throw new Error(`${patch} is stale: ${message}\n${stdout}\n${REFRESH(patch)}`);
    }
  }

  /** schema.graphql, as `npm run schema` writes it. */
  get schema(): string {
    return readFileSync(join(this.directory, 'schema.graphql'), 'utf8');
  }

  /** Starts it, far from UTC, where a date that is read in the wrong zone shows. */
  async start(): Promise<GatewayProcess> {
    const environment = { DATA_DIR: this.data, LOG_LEVEL: 'silent', TZ: 'America/New_York' };
    this.running = await GatewayProcess.start(environment, [process.execPath, join(this.directory, 'dist', 'main.js')]);
    return this.running;
  }

  async remove(): Promise<void> {
    await this.running?.stop('SIGKILL');
    rmSync(this.directory, { recursive: true });
  }
}
