import { createApp } from './app';
import { readConfig } from './config';
import { openDatabase } from './database/open';
import { environment } from './environment';

async function main(): Promise<void> {
  const config = readConfig(environment());
  const database = await openDatabase({ url: config.DATABASE_URL, directory: config.DATA_DIR });
  const { server, anonymousAccess, newAdminKey } = await createApp(config, database);
  server.addHook('onClose', () => database.close());

  let stopping = false;
  const stop = () => {
    if (stopping) process.exit(1);
    stopping = true;
    server.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);

  const address = await server.listen({ port: config.PORT, host: config.HOST });
  process.stdout.write(
    banner([
      ['GraphQL', `${address}/graphql   (a browser gets Sandbox)`],
      ['REST', `${address}/pets`],
      ['Docs', `${address}/docs`],
      ['Data', database.description],
      ['Access', `without a key: ${ACCESS[anonymousAccess]}`],
      ...(newAdminKey ? [['Admin key', `${newAdminKey}   (shown this once: keep it safe)`] as const] : []),
    ]),
  );
}

const ACCESS = { none: 'nothing', read: 'read', write: 'read and write' };

function banner(rows: (readonly [string, string])[]): string {
  const lines = rows.map(([name, value]) => `  ${name.padEnd(10)} ${value}`);
  return ['', '  Petstore Gateway 1.0.0', ...lines, '', ''].join('\n');
}

main().catch((error: unknown) => {
  process.stderr.write(`petstore-gateway: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
