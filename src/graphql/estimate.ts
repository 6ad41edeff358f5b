/** The variables of an operation. */
export type Variables = Readonly<Record<string, unknown>>;

/** A number that may depend on the variables of a request. */
export interface Estimate {
  /** The maximum for any variables. */
  readonly most: number;
  /** The value for these variables, as sent. Absent if it is always `most`. */
  readonly at?: (variables: Variables) => number;
}

export function constant(value: number): Estimate {
  return { most: value };
}

export function sum(terms: readonly Estimate[]): Estimate {
  const most = terms.reduce((total, term) => total + term.most, 0);
  const varying = terms.flatMap(({ at }) => at ?? []);
  if (!varying.length) return constant(most);
  const fixed = terms.reduce((total, term) => total + (term.at ? 0 : term.most), 0);
  return { most, at: (variables) => varying.reduce((total, at) => total + at(variables), fixed) };
}

export function times(a: Estimate, b: Estimate): Estimate {
  const most = a.most * b.most;
  if (!a.at && !b.at) return constant(most);
  return { most, at: (variables) => estimateAt(a, variables) * estimateAt(b, variables) };
}

export function estimateAt({ most, at }: Estimate, variables: Variables): number {
  return at ? at(variables) : most;
}
