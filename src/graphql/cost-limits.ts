import type { GraphQLSchema, OperationTypeNode } from 'graphql';
import { ProblemError } from '../errors/errors';
import { listSizeOf } from './cost-directives';
import { type Estimate, estimateAt, type Variables } from './estimate';
import { FieldCosts } from './field-costs';
import type { SelectedFields } from './selected-field';

/**
 * The maximum estimated cost of an operation of each kind, and of a `free` one, which uses no quota. A subscription's is that
 * of each event, as it is charged only when it starts.
 */
export type CostLimits = Readonly<Record<`${OperationTypeNode}` | 'free', number>>;

/** How many elements a refusal names. */
const NAMED = 3;

/**
 * Why an operation is too expensive to run; `undefined` if it is not. Nothing is computed if no variables could make it so.
 * @param cost how many requests it counts as.
 * @param variables coerced.
 */
export function refuseCost(
  { schema, kind }: { readonly schema: GraphQLSchema; readonly kind: `${OperationTypeNode}` },
  { root, size, cost: requests }: { readonly root: SelectedFields; readonly size: Estimate; readonly cost: number },
  variables: Variables,
  limits: CostLimits,
): ProblemError | undefined {
  const isEvent = kind === 'subscription';
  const pages = isEvent ? pagesIn(root) : [];
  if (pages.length) {
    const message = `An event of a subscription holds rows and what they belong to, but no pages and counts; it may not select ${pages.join(', ')}.`;
    return new ProblemError('OPERATION_TOO_COMPLEX', message);
  }
  const most = requests === 0 ? limits.free : limits[kind];
  const cost = size.most > most ? Math.round(estimateAt(size, variables)) : 0;
  if (cost <= most) return undefined;
  const what = isEvent ? 'An event of the subscription' : 'The operation';
  const dearest = dearestOf(new FieldCosts(schema).shares(root, variables));
  const allowed = requests === 0 ? 'is allowed of one that uses no quota' : 'is allowed';
  const message = `${what} has an estimated cost of ${cost}; at most ${most} ${allowed}. Most of it: ${dearest}. Ask for less of these.`;
  return new ProblemError('OPERATION_TOO_COMPLEX', message);
}

/** In words, what costs most: `Pet.id 10000, Pet.name 10000`. */
function dearestOf(shares: ReadonlyMap<string, number>): string {
  const dearest = [...shares].filter(([, share]) => share > 0).sort(([, a], [, b]) => b - a);
  const named = dearest.slice(0, NAMED).map(([element, share]) => `${element} ${Math.round(share)}`);
  return named.join(', ');
}

function pagesIn({ fields }: SelectedFields): string[] {
  const pages = fields.flatMap(({ field, coordinate, selection }) => [
    ...(listSizeOf(field) ? [coordinate] : []),
    ...(selection ? pagesIn(selection) : []),
  ]);
  return [...new Set(pages)];
}
