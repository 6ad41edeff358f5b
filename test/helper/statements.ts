import type { Statement } from '../../src/database/database';
import type { GatewayDatabase } from '../../src/database/gateway-database';

/** Records the statements that a database receives, until `stop` is called. */
export class StatementLog {
  /** The SQL of each statement; for Prisma's models, the call: `prisma.pet.update`. */
  readonly texts: string[] = [];

  private constructor(readonly stop: () => void) {}

  static of(database: GatewayDatabase): StatementLog {
    const target = database as Pick<GatewayDatabase, 'query' | 'write'> & { prisma: object };
    const { query, write, prisma } = target;
    const log = new StatementLog(() => {
      Object.assign(target, { query, write, prisma });
    });
    const logged =
      <Rest extends unknown[]>(run: (statement: Statement, ...rest: Rest) => Promise<unknown[]>) =>
      <Row>(statement: Statement, ...rest: Rest) => {
        log.texts.push(statement.text);
        return run.call(database, statement, ...rest) as Promise<Row[]>;
      };
    Object.assign(target, { query: logged(query), write: logged(write) });
    target.prisma = recorded(prisma, 'prisma', log.texts);
    return log;
  }

  /** The statements on the shop's tables. Statements that authenticate the caller are not included. */
  get ofShop(): string[] {
    return this.texts.filter((text) =>
      /\b(pets|categories|orders|inventory|prisma\.(pet|category|order|inventory))\b/.test(text),
    );
  }
}

/** A Prisma client that records every call on itself and its models. */
function recorded<T extends object>(client: T, path: string, texts: string[]): T {
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      const inner = `${path}.${String(name)}`;
      if (typeof value === 'function') {
        return (...args: unknown[]) => {
          const [first] = args;
          if (name === '$transaction' && typeof first === 'function')
            return value.call(target, (tx: object) => first(recorded(tx, path, texts)));
          texts.push(typeof first === 'string' ? first : inner);
          return value.apply(target, args);
        };
      }
      return typeof value === 'object' && value !== null ? recorded(value, inner, texts) : value;
    },
  });
}
