import { AsyncLocalStorage } from 'node:async_hooks';
import type { Prisma } from '../generated/client';
import type { Work } from './deadline';

type Factory = NonNullable<Prisma.PrismaClientOptions['adapter']>;
type Adapter = Awaited<ReturnType<Factory['connect']>>;
type Transaction = Awaited<ReturnType<Adapter['startTransaction']>>;
type Query = Parameters<Transaction['queryRaw']>[0];

/** A transaction's work, and whether its commit has been sent. */
export interface Unit extends Work {
  isCommitting?: boolean;
}

/** Prisma takes no argument of ours along to its driver adapter. */
const units = new AsyncLocalStorage<Unit>();

/** Runs Prisma's statements on behalf of this work. */
export function onBehalfOf<T>(unit: Unit, run: () => Promise<T>): Promise<T> {
  return units.run(unit, run);
}

/** The work on whose behalf this code runs; `undefined` if it is no one's. */
export function currentUnit(): Unit | undefined {
  return units.getStore();
}

/** A driver adapter whose transactions start no statement, and no commit, once the deadline of their work is over. */
export class BoundedAdapter implements Factory {
  readonly provider: Factory['provider'];
  readonly adapterName: string;

  constructor(private readonly factory: Factory) {
    this.provider = factory.provider;
    this.adapterName = factory.adapterName;
  }

  async connect(): Promise<Adapter> {
    const adapter = await this.factory.connect();
    return {
      provider: adapter.provider,
      adapterName: adapter.adapterName,
      queryRaw: (query) => adapter.queryRaw(query),
      executeRaw: (query) => adapter.executeRaw(query),
      executeScript: (script) => adapter.executeScript(script),
      getConnectionInfo: () => adapter.getConnectionInfo?.() ?? { supportsRelationJoins: true },
      dispose: () => adapter.dispose(),
      startTransaction: async (isolation) => bounded(await adapter.startTransaction(isolation), currentUnit()),
    };
  }
}

function bounded(transaction: Transaction, unit: Unit | undefined): Transaction {
  if (!unit) return transaction;
  const check = ({ sql }: Query) => {
    if (sql === 'ROLLBACK') return;
    unit.deadline.check();
    if (sql === 'COMMIT') unit.isCommitting = true;
  };
  return {
    provider: transaction.provider,
    adapterName: transaction.adapterName,
    options: transaction.options,
    queryRaw: async (query) => {
      check(query);
      return transaction.queryRaw(query);
    },
    executeRaw: async (query) => {
      check(query);
      return transaction.executeRaw(query);
    },
    commit: () => transaction.commit(),
    rollback: () => transaction.rollback(),
  };
}
