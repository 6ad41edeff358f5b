import { createApp } from './app';
import { readConfig } from './config';
import { openDatabase } from './database/open';

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const database = await openDatabase({ url: config.DATABASE_URL, directory: config.DATA_DIR });
  const app = await createApp(config, database);
  app.addHook('onClose', () => database.close());

  let stopping = false;
  const stop = () => {
    if (stopping) process.exit(1);
    stopping = true;
    app.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);

  const address = await app.listen({ port: config.PORT, host: config.HOST });
  process.stdout.write(banner(address, database.description));
}

function banner(address: string, database: string): string {
  return [
    '',
    '  Petstore Gateway 1.0.0',
    `  GraphQL   ${address}/graphql   (open it in a browser for Sandbox)`,
    `  REST      ${address}/pets`,
    `  Docs      ${address}/docs`,
    `  Data      ${database}`,
    '',
    '',
  ].join('\n');
}

main().catch((error: unknown) => {
  process.stderr.write(`petstore-gateway: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
