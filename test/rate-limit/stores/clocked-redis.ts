import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';

const TIME = "redis.call('TIME')";

/** A client whose scripts are the real ones except for the clock: they read it from a key that `setClock` sets. */
export class ClockedRedis extends Redis {
  private readonly clockKey = `test:${randomUUID()}:clock`;

  override defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): void {
    if (definition.lua.split(TIME).length !== 2) throw new Error(`${name} does not read the clock just once`);
    const clock = `redis.call('GET', '${this.clockKey}')`;
    const lua = definition.lua.replace(TIME, `{ math.floor(${clock} / 1000), ${clock} % 1000 * 1000 }`);
    super.defineCommand(name, { ...definition, lua });
  }

  async setClock(ms: number): Promise<void> {
    await this.set(this.clockKey, ms, 'EX', 600);
  }
}
