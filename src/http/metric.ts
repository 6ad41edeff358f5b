import { type Aggregator, Counter, Gauge, type Registry } from 'prom-client';

type Sample = { readonly value: number; readonly [label: string]: string | number };

type Value = number | readonly Sample[] | undefined;

type Read = () => Value | Promise<Value>;

interface Options {
  readonly labels?: string[];
  /** How the values of several processes are combined. By default the values are added. */
  readonly aggregator?: Aggregator;
}

/** A metric whose value is read each time the metrics are collected. */
export interface Metric extends Options {
  readonly type: 'gauge' | 'counter';
  /** The name without the prefix `petstore_`. */
  readonly name: string;
  readonly help: string;
  /**
   * Reads the current value, or one value per set of labels. Returns `undefined` if this process does not have the metric, and
   * a promise of `undefined` if the value cannot be read now.
   */
  readonly read: Read;
}

export function gauge(name: string, help: string, read: Read, options?: Options): Metric {
  return { type: 'gauge', name, help, read, ...options };
}

export function counter(name: string, help: string, read: Read, options?: Options): Metric {
  return { type: 'counter', name, help, read, ...options };
}

export function register(metrics: readonly Metric[], registry: Registry): void {
  for (const { type, name, help, labels: labelNames = [], aggregator = 'sum', read } of metrics) {
    if (read() === undefined) continue;
    const Type = type === 'gauge' ? Gauge : Counter;
    const metric: Gauge | Counter = new Type({
      name: `petstore_${name}`,
      help,
      labelNames,
      aggregator,
      registers: [registry],
      collect: async () => {
        const samples = (await read()) ?? [];
        metric.reset();
        for (const { value, ...labels } of typeof samples === 'number' ? [{ value: samples }] : samples)
          metric.inc(labels, value);
      },
    });
  }
}
