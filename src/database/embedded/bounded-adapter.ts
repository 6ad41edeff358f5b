import type { Work } from '../deadline';
import type { Prisma } from '../generated/client';

/** How Prisma reaches a database. */
export type Factory = NonNullable<Prisma.PrismaClientOptions['adapter']>;
type Adapter = Awaited<ReturnType<Factory['connect']>>;
type PrismaTransaction = Awaited<ReturnType<Adapter['startTransaction']>>;
type Query = Parameters<PrismaTransaction['queryRaw']>[0];

/** A transaction's work, and whether its commit has been sent. */
interface Unit extends Work {
  isCommitting?: boolean;
}

/** A driver adapter whose transactions start no statement, and no commit, once the deadline of their work is over. */
export class BoundedAdapter implements Factory {
  readonly provider: Factory['provider'];
  readonly adapterName: string;
  /** The transaction that Prisma begins now, and what lets the next one begin. */
  private coming: { readonly unit: Unit; readonly next: () => void } | undefined;
  private turn: Promise<void> = Promise.resolve();

  constructor(private readonly factory: Factory) {
    this.provider = factory.provider;
    this.adapterName = factory.adapterName;
  }

  /**
   * Begins a transaction for this work. Prisma takes no argument of ours along to its adapter, so they arrive there one
   * after the other; they do not wait for connections meanwhile. (An `AsyncLocalStorage` makes every promise of
   * the process dearer on Node 20.)
   */
  transact<T>(unit: Unit, begin: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const start = (next: () => void) => {
        this.coming = { unit, next };
        begin().then(resolve, reject).finally(next);
      };
      this.turn = this.turn.then(() => new Promise(start));
    });
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
      startTransaction: async (isolation) => {
        const { unit, next } = this.coming ?? {};
        this.coming = undefined;
        next?.();
        return bounded(await adapter.startTransaction(isolation), unit);
      },
    };
  }
}

function bounded(transaction: PrismaTransaction, unit: Unit | undefined): PrismaTransaction {
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
