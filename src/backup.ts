import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readBackup, writeBackup } from './backup/backup-file';
import { type Connection, connectTo, connectToDirectory, readDirectory } from './backup/connect';
import { loadAll } from './backup/load-rows';
import type { Footer, Part } from './backup/parts';
import { readAll } from './backup/read-rows';
import { type Progress, withProgress } from './cli/progress';
import { type Config, readConfig } from './config';
import { environment } from './environment';

const USAGE = `Copies all data: to a file, from a file, or into a PostgreSQL.

  npm run backup [-- FILE]           writes all data to FILE (default: petstore-TIME.backup), also while the gateway serves
  npm run restore -- FILE            loads FILE into an empty database, and compares what it has then with the file
  npm run export -- --to URL         loads all data into an empty PostgreSQL at URL (postgresql://…)

They read and write the database of the gateway: DATABASE_URL, or else the embedded one in DATA_DIR.
`;

const COMMANDS: Record<string, (config: Config, argument: string | undefined, progress: Progress) => Promise<string>> =
  {
    async backup(config, argument, progress) {
      const file = resolve(argument ?? `petstore-${new Date().toISOString().replace(/\.\d+Z$|[-:]/g, '')}.backup`);
      const source = await sourceOf(config, file);
      const sums = await closing(source, () => writeBackup(file, readAll(source, source.description), progress));
      return `Wrote ${file} from ${source.description}: ${summary(sums)}.`;
    },
    async restore(config, file, progress) {
      if (!file) throw new Error('name the file to restore: npm run restore -- FILE');
      const target = config.DATABASE_URL
        ? await connectTo(config.DATABASE_URL)
        : await connectToDirectory(config.DATA_DIR);
      const loaded = await closing(target, () => loadAll(target, readable(file), progress));
      return `Restored ${file} into ${target.description}, and compared: ${summary(loaded)}.`;
    },
    async export(config, url, progress) {
      if (!url || !/^postgres(ql)?:\/\//.test(url))
        throw new Error('name the target: npm run export -- --to postgresql://…');
      const target = await connectTo(url);
      return closing(target, async () => {
        const source = await sourceOf(config, config.DATA_DIR);
        const parts = readAll(source, source.description);
        const loaded = await closing(source, () => loadAll(target, parts, progress));
        return `Exported ${source.description} to ${target.description}, and compared: ${summary(loaded)}.`;
      });
    },
  };

function sourceOf({ DATABASE_URL, DATA_DIR }: Config, beside: string): Promise<Connection> {
  return DATABASE_URL ? connectTo(DATABASE_URL) : readDirectory(DATA_DIR, beside);
}

async function closing<T>(connection: Connection, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } finally {
    await connection.close();
  }
}

async function* readable(file: string): AsyncGenerator<Part> {
  try {
    yield* readBackup(file);
  } catch (error) {
    throw new Error(`${file} cannot be read as a backup: ${(error as Error).message}`, { cause: error });
  }
}

/** `pets 1000, orders 500` */
function summary(sums: Footer['sums']): string {
  return Object.entries(sums)
    .map(([table, { rows }]) => `${table} ${rows}`)
    .join(', ');
}

async function run([command = '', ...args]: string[]): Promise<void> {
  const options = { to: { type: 'string' }, help: { type: 'boolean', default: false } } as const;
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const perform = COMMANDS[command];
  if (values.help || !perform) {
    process.stdout.write(USAGE);
    return;
  }
  const argument = values.to ?? positionals[0];
  const done = await withProgress('{value} of about {total} rows', (progress) =>
    perform(readConfig(environment()), argument, progress),
  );
  process.stdout.write(`${done}\n`);
}

const [command = 'backup'] = process.argv.slice(2);
run(process.argv.slice(2)).catch((error: unknown) => {
  const [line] = (error instanceof Error ? error.message : String(error)).split('\n');
  process.stderr.write(`${command}: ${line}\n`);
  process.exitCode = 1;
});
