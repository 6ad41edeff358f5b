import { PrismaPg } from '@prisma/adapter-pg';
import { Pool, type QueryConfig, type QueryResult } from 'pg';
import { type Prisma, PrismaClient } from '../generated/client';

type Factory = NonNullable<Prisma.PrismaClientOptions['adapter']>;

/**
 * Prisma's models on a connection that the gateway has taken, and on which it has begun a transaction. Prisma has no
 * argument for a connection, so there is a client for each connection in use at a time: 3 MB and 60 ms when it is made.
 */
export class PrismaConnection {
  readonly prisma: PrismaClient;
  private send: ((config: QueryConfig) => Promise<QueryResult>) | undefined;

  constructor() {
    const query = (config: QueryConfig) => this.query(config);
    // Prisma's adapter accepts an instance of `Pool`. This one has no connections, and hands its statements to ours.
    const pool = Object.assign(new Pool(), { query });
    this.prisma = new PrismaClient({
      adapter: inOpenTransaction(new PrismaPg(pool)),
      // The other formats quote the source code, which is read for each error: during an outage, for every request.
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
    if (!this.send) throw new Error('The transaction of this statement is over.');
    return this.send(config);
  }
}

/**
 * A write of Prisma's that takes several statements begins a transaction for them. Here there is one already, whose end
 * is the gateway's.
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
      // With `usePhantomQuery` Prisma sends no COMMIT and no ROLLBACK of its own.
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

/** The {@link PrismaConnection}s that are not in use; there are never more than connections in use at the same time. */
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
