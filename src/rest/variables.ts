import { isLosslessNumber } from 'lossless-json';
import type { ErrorDetail } from '../domain/errors';
import { ProblemError } from '../graphql/errors';
import type { Variables } from '../graphql/executor';
import { valueErrors } from '../graphql/variable-errors';
import type { Input, Inputs } from './inputs';

/** What a request gives an operation, as it came. */
export interface Given {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | string[]>>;
  /** The parsed body, where the operation takes one. */
  readonly body: unknown;
}

/** How the body of an operation is read. */
export interface BodyRules {
  /** Its schema's name, for those who send fields that it does not have. */
  readonly schema: string;
  /** The field that is the resource's identity, and the path parameter that it must equal; without one it is ignored. */
  readonly identity: { readonly field: string; readonly parameter?: string };
  /** Whether null for an optional field means that it is absent. */
  readonly dropsNulls: boolean;
}

/** What says how the variables of an operation are made. */
interface Recipe {
  readonly inputs: Inputs;
  /** Of an operation that takes a body. */
  readonly bodyRules?: BodyRules;
}

/** More wrong things than this in one request are not listed. */
const MAX_DETAILS = 100;

/**
 * The variables of an operation's document from what the request gives.
 * @throws ProblemError `BAD_USER_INPUT` that names everything that does not fit.
 */
export function variablesOf({ inputs, bodyRules: body }: Recipe, given: Given): Variables {
  const variables: Record<string, unknown> = {};
  const details: ErrorDetail[] = [];
  const take = (input: Input, raw: unknown) => {
    const value = input.read(raw);
    const errors = valueErrors(input.type, value, input.name);
    for (const { path } of errors) details.push({ path, message: input.rule });
    variables[input.name] = value;
  };

  for (const input of inputs.path.values()) take(input, given.path[input.name]);
  for (const [name, raw] of Object.entries(given.query)) {
    const input = inputs.query.get(name);
    if (!input) details.push({ path: name, message: 'is not a parameter of this operation' });
    else if (Array.isArray(raw) && !input.repeatable)
      details.push({ path: name, message: 'must be given only once' });
    else take(input, raw);
  }
  if (body) {
    const fields = fieldsOf(given.body);
    for (const [name, raw] of Object.entries(fields)) {
      if (name === body.identity.field) checkIdentity(body.identity, raw, given.path, details);
      else {
        const input = inputs.body.get(name);
        if (!input) details.push({ path: name, message: `is not a field of ${body.schema}` });
        else if (raw !== null) take(input, raw);
        else if (input.required) details.push({ path: name, message: 'must not be null' });
        else if (!body.dropsNulls) variables[name] = null;
      }
    }
    for (const { name, required } of inputs.body.values())
      if (required && !Object.hasOwn(fields, name)) details.push({ path: name, message: 'must be given' });
  }
  if (details.length) throw badInput(details.slice(0, MAX_DETAILS));
  return variables;
}

/** The refusal of input; its message names each thing and the rule that it breaks. */
export function badInput(details: readonly ErrorDetail[]): ProblemError {
  const message = details.map((detail) => `${detail.path}: ${detail.message}`).join('; ');
  return new ProblemError('BAD_USER_INPUT', message, details);
}

function fieldsOf(body: unknown): object {
  // What stands for a number that JSON.parse would change is an object too, of a class of its own.
  if (typeof body === 'object' && body !== null && Object.getPrototypeOf(body) === Object.prototype)
    return body;
  throw badInput([{ path: 'body', message: 'must be a JSON object' }]);
}

function checkIdentity(
  { field, parameter }: BodyRules['identity'],
  raw: unknown,
  path: Given['path'],
  details: ErrorDetail[],
): void {
  if (!parameter) return;
  const isEqual = (typeof raw === 'number' || isLosslessNumber(raw)) && String(raw) === path[parameter];
  if (!isEqual) details.push({ path: field, message: `must be left out or equal ${parameter} of the path` });
}
