import { PrismaPg } from '@prisma/adapter-pg';
import { Pool, type QueryConfig, type QueryResult } from 'pg';
import { PrismaClient } from '../generated/client';

/**
 * Runs Prisma's models in a transaction that the gateway has begun on a connection from its pool. Prisma's calls do not
 * accept a connection as an argument, so each connection in use needs its own Prisma client. Creating a client
 * takes longer than most transactions (bench/README.md).
 */
export class ReusablePrismaClient {
  readonly prisma: PrismaClient;
  /** Sends the statements of the models; `undefined` while no transaction uses them. */
  send: ModelTransaction['send'] | undefined;

  constructor() {
    const send = async (config: QueryConfig) => {
      if (!this.send) throw new Error('The transaction has already ended.');
      return this.send(config);
    };
    const end = async () => undefined;
    this.prisma = new PrismaClient({
      // The gateway's transaction is already open, and only the gateway ends it.
      adapter: adapterOn(send, async () => ({ send, commit: end, rollBack: end })),
      // The other formats quote source code in each error. During an outage, reading the source file for every request would
      // be expensive.
      errorFormat: 'minimal',
    });
  }
}

interface ModelTransaction {
  send(config: QueryConfig): Promise<QueryResult>;
  commit(): Promise<unknown>;
  rollBack(): Promise<void>;
}

/**
 * An adapter for Prisma's models.
 * @param send runs a statement outside of Prisma's transactions.
 * @param begin begins a transaction of Prisma, for writes that need several statements.
 */
export function adapterOn(send: ModelTransaction['send'], begin: () => Promise<ModelTransaction>) {
  const factory = new PrismaPg(poolOf(send));
  const connect = factory.connect.bind(factory);
  const startTransaction = async () => {
    const transaction = await begin();
    return Object.assign(await new PrismaPg(poolOf((config) => transaction.send(config))).connect(), {
      // With `usePhantomQuery`, Prisma sends neither COMMIT nor ROLLBACK.
      options: { usePhantomQuery: true },
      commit: async () => void (await transaction.commit()),
      rollback: () => transaction.rollBack(),
    });
  };
  return Object.assign(factory, { connect: async () => Object.assign(await connect(), { startTransaction }) });
}

/** Prisma's adapter needs an instance of `Pool`. This instance opens no connections. */
function poolOf(query: ModelTransaction['send']): Pool {
  return Object.assign(new Pool(), { query });
}

/**
 * The idle {@link ReusablePrismaClient}s. Their number never exceeds the highest number of connections that were in use
 * at the same time.
 */
export class PrismaClientPool {
  private readonly idle: ReusablePrismaClient[] = [];

  /** @param send sends the statements of the models, until {@link putBack}. */
  take(send: ModelTransaction['send']): ReusablePrismaClient {
    return Object.assign(this.idle.pop() ?? new ReusablePrismaClient(), { send });
  }

  putBack(client: ReusablePrismaClient): void {
    client.send = undefined;
    this.idle.push(client);
  }

  async close(): Promise<void> {
    await Promise.all(this.idle.map(({ prisma }) => prisma.$disconnect()));
  }
}
