import type { Api } from './context';
import type { StabilityLevel } from './directives';

/** How often a marked element was used through one interface, GraphQL or REST. */
interface CountedUse {
  /** A schema coordinate, or the method and path of a REST operation. */
  readonly element: string;
  readonly marker: 'deprecated' | StabilityLevel;
  readonly interface: Api['name'];
  times: number;
}

/**
 * Counts the uses of marked elements since the process started. The schema and the REST operations bound the number of
 * counters.
 */
export class MarkedElementUses {
  private readonly known = new Map<string, CountedUse>();

  count(element: string, marker: CountedUse['marker'], api: Api['name']): void {
    const key = `${api} ${marker} ${element}`;
    const known = this.known.get(key);
    if (known) known.times++;
    else this.known.set(key, { element, marker, interface: api, times: 1 });
  }

  /** @param unstable the stability of the elements that an operation uses, by schema coordinate. */
  countAll(unstable: ReadonlyMap<string, StabilityLevel>, api: Api['name']): void {
    for (const [coordinate, level] of unstable) this.count(coordinate, level, api);
  }

  *[Symbol.iterator](): Iterator<CountedUse> {
    yield* this.known.values();
  }
}
