import type { Annotation } from './annotations';
import type { Api } from './context';

/** How often an annotated element was used through one of the two interfaces. */
export interface CountedUse {
  /** A schema coordinate, or the method and path of a REST operation. */
  readonly element: string;
  readonly marker: 'deprecated' | 'experimental' | 'beta';
  readonly interface: Api['name'];
  times: number;
}

/** How often annotated elements have been used since the process started. Their number is bounded by the schema. */
export class Uses {
  private readonly known = new Map<string, CountedUse>();

  count(element: string, marker: CountedUse['marker'], api: Api['name']): void {
    const key = `${api} ${marker} ${element}`;
    const known = this.known.get(key);
    if (known) known.times++;
    else this.known.set(key, { element, marker, interface: api, times: 1 });
  }

  countAll(annotations: readonly Annotation[], api: Api['name']): void {
    for (const { coordinate, stability, deprecation } of annotations) {
      if (deprecation) this.count(coordinate, 'deprecated', api);
      if (stability) this.count(coordinate, stability, api);
    }
  }

  *[Symbol.iterator](): Iterator<CountedUse> {
    yield* this.known.values();
  }
}
