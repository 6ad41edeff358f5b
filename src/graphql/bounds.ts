// The decorators need this import. The import in schema.ts is too late, since services load the input classes earlier.
import 'reflect-metadata';
import { Extensions } from 'type-graphql';
import { isCursor } from '../database/reading/cursor';
import { Checks, MAX_INT32, NOT_A_CURSOR, NOT_ZERO, PAGE_SIZE, type Rule, SEARCH } from '../errors/input-checks';

/**
 * Decorators that bound the values of a field. Input checks, `{bounds}` in the field's description, the estimated cost of
 * pages and the OpenAPI document use these bounds.
 */

const RULES = new WeakMap<object, Record<string, Rule>>();

/** @param words the bounds as the description of the field states them: `1 to 100`. */
function Bounded(rule: Rule, words?: string) {
  return (prototype: object, field: string): void => {
    const rules = RULES.get(prototype) ?? {};
    RULES.set(prototype, rules);
    // All decorators of a field extend the same rule.
    rules[field] = Object.assign(rules[field] ?? {}, rule);
    Extensions({ rule: rules[field], ...(words && { bounds: words }) })(prototype, field);
  };
}

/** A text of `min` to `max` code points, after surrounding white space is removed. */
export const Text = (min: 0 | 1, max: number) =>
  Bounded(
    { trimmed: true, ...(min && { minLength: min }), maxLength: max },
    min ? `${min} to ${max} characters` : `up to ${max} characters`,
  );

/** A text to search for. */
export const SearchText = () => Bounded(SEARCH);

/** An integer within these bounds. */
export const Range = ({ minimum, maximum }: { readonly minimum: number; readonly maximum: number }) =>
  Bounded({ minimum, maximum }, `${minimum} to ${maximum}`);

/** The number of items of a page. */
export const PageSize = () => Range(PAGE_SIZE);

/** A number of units, at least 1. */
export const Quantity = () => Bounded({ minimum: 1, maximum: MAX_INT32 }, 'at least 1');

/** A number of units, at least 0. */
export const Count = () => Range({ minimum: 0, maximum: MAX_INT32 });

/** Any number but 0. */
export const NotZero = () => Bounded(NOT_ZERO);

/** A cursor. By default, this decorator does not check whether it is a cursor of this list and order. */
export const Cursor = (accepts = isCursor, fault = NOT_A_CURSOR) => Bounded({ form: { accepts, fault } });

/** A field of an update that must not be null. If it is omitted, the current value is kept. */
export const NotNull = () => Bounded({ nullable: false });

/** The rules of an input type's fields; a field without a rule accepts any value of its type. */
export function rulesOf({ prototype }: abstract new () => object): Readonly<Record<string, Rule>> {
  return RULES.get(prototype) ?? {};
}

/** @returns the input, with texts trimmed. @throws ProblemError `BAD_USER_INPUT` that names every invalid field. */
export function checkInput<Input extends object>(type: abstract new () => Input, input: Input): Input {
  const checks = new Checks();
  const checked = checks.input(rulesOf(type), input);
  checks.done();
  return checked;
}

/** Replaces `{bounds}` in a description by the field's bounds. @throws Error if the field has no bounds. */
export function withBounds(description: string, { bounds }: Readonly<Record<string, unknown>>): string {
  if (!description.includes('{bounds}')) return description;
  if (bounds === undefined) throw new Error(`A description has {bounds}, but its field has no bounds: ${description}`);
  return description.replace('{bounds}', String(bounds));
}
