import { PrismaPg } from '@prisma/adapter-pg';
import { Pool, type QueryConfig, type QueryResult } from 'pg';
import { type Prisma, PrismaClient } from '../generated/client';

type Factory = NonNullable<Prisma.PrismaClientOptions['adapter']>;

/**
 * Runs Prisma's models in a transaction that the gateway has begun on a connection from its pool. Prisma's calls do not
 * accept a connection as an argument, so each connection in use needs its own Prisma client. Creating a client
 * takes longer than most transactions (bench/README.md).
 */
export class PrismaConnection {
  readonly prisma: PrismaClient;
  private send: ((config: QueryConfig) => Promise<QueryResult>) | undefined;

  constructor() {
    const query = (config: QueryConfig) => this.query(config);
    // Prisma's adapter needs an instance of `Pool`. This instance opens no connections, since its `query` uses the gateway's
    // connection.
    const pool = Object.assign(new Pool(), { query });
    this.prisma = new PrismaClient({
      adapter: inOpenTransaction(new PrismaPg(pool)),
      // The other formats quote source code in each error. During an outage, reading the source file for every request would
      // be expensive.
      errorFormat: 'minimal',
    });
  }

  /** @param send sends the statements of the models, until {@link release}. */
  hold(send: (config: QueryConfig) => Promise<QueryResult>): void {
    this.send = send;
  }

  release(): void {
    this.send = undefined;
  }

  private async query(config: QueryConfig): Promise<QueryResult> {
    if (!this.send) throw new Error('The transaction has already ended.');
    return this.send(config);
  }
}

/**
 * Prisma begins a transaction for a write of several statements. Here the gateway's transaction is already open, and only
 * the gateway ends it. So Prisma's begin, commit and rollback do nothing.
 */
function inOpenTransaction(factory: Factory): Factory {
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    connect: async () => {
      const adapter = await factory.connect();
      const part = {
        provider: adapter.provider,
        adapterName: adapter.adapterName,
        queryRaw: adapter.queryRaw.bind(adapter),
        executeRaw: adapter.executeRaw.bind(adapter),
      };
      const end = async () => undefined;
      // With `usePhantomQuery`, Prisma sends neither COMMIT nor ROLLBACK.
      const options = { usePhantomQuery: true };
      return {
        ...part,
        executeScript: adapter.executeScript.bind(adapter),
        getConnectionInfo: () => ({ supportsRelationJoins: true }),
        dispose: adapter.dispose.bind(adapter),
        startTransaction: async () => ({ ...part, options, commit: end, rollback: end }),
      };
    },
  };
}

/**
 * The idle {@link PrismaConnection}s. Their number never exceeds the highest number of connections that were in use at the
 * same time.
 */
export class PrismaConnections {
  private readonly idle: PrismaConnection[] = [];

  take(): PrismaConnection {
    return this.idle.pop() ?? new PrismaConnection();
  }

  putBack(connection: PrismaConnection): void {
    connection.release();
    this.idle.push(connection);
  }

  async close(): Promise<void> {
    await Promise.all(this.idle.map(({ prisma }) => prisma.$disconnect()));
  }
}
