import { isLosslessNumber } from 'lossless-json';
import { badInput, type ErrorDetail } from '../domain/domain-error';
import { valueErrors } from '../graphql/variable-errors';
import type { Variables } from '../graphql/variables';
import type { Input, Inputs } from './inputs';

/** The raw inputs of a request. */
export interface Given {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | string[]>>;
  /** The parsed body, if the operation takes one. */
  readonly body: unknown;
}

/** How the body of an operation is read. */
export interface BodyRules {
  /** The name of its schema, for errors about unknown fields. */
  readonly schema: string;
  /** The field that identifies the resource, and the path parameter that it must equal; without one it is ignored. */
  readonly identity: { readonly field: string; readonly parameter?: string };
  /** Whether null for an optional field means that it is absent. */
  readonly dropsNulls: boolean;
}

/** How the variables of an operation are built. */
interface Recipe {
  readonly inputs: Inputs;
  /** Set if the operation takes a body. */
  readonly bodyRules?: BodyRules;
}

/** Maximum number of errors listed for one request. */
const MAX_DETAILS = 100;

/**
 * Builds the variables of an operation's document from a request.
 * @throws ProblemError `BAD_USER_INPUT` that names everything that does not fit.
 */
export function variablesOf({ inputs, bodyRules }: Recipe, given: Given): Variables {
  const reading = new Reading();
  for (const input of inputs.path.values()) reading.take(input, given.path[input.name]);
  readQuery(reading, inputs.query, given.query);
  if (bodyRules) readBody(reading, inputs.body, bodyRules, given);
  if (reading.details.length) throw badInput(...reading.details.slice(0, MAX_DETAILS));
  return reading.variables;
}

/** The variables read from a request so far, and the errors found. */
class Reading {
  readonly variables: Record<string, unknown> = {};
  readonly details: ErrorDetail[] = [];

  take(input: Input, raw: unknown): void {
    const value = input.read(raw);
    this.variables[input.name] = value;
    try {
      input.coerce(value);
    } catch {
      for (const { path } of valueErrors(input.type, value, input.name)) this.refuse(path, input.rule);
    }
  }

  refuse(path: string, message: string): void {
    this.details.push({ path, message });
  }
}

function readQuery(reading: Reading, inputs: ReadonlyMap<string, Input>, query: Given['query']): void {
  for (const [name, raw] of Object.entries(query)) {
    const input = inputs.get(name);
    if (!input) reading.refuse(name, 'is not a parameter of this operation');
    else if (Array.isArray(raw) && !input.repeatable) reading.refuse(name, 'must not be repeated');
    else reading.take(input, raw);
  }
}

function readBody(
  reading: Reading,
  inputs: ReadonlyMap<string, Input>,
  { schema, identity, dropsNulls }: BodyRules,
  { body, path }: Given,
): void {
  if (!isObject(body)) throw badInput({ path: 'body', message: 'must be a JSON object' });
  for (const [name, raw] of Object.entries(body)) {
    const input = inputs.get(name);
    if (name === identity.field) readIdentity(reading, identity, raw, path);
    else if (!input) reading.refuse(name, `is not a field of ${schema}`);
    else if (raw !== null) reading.take(input, raw);
    else if (input.required) reading.refuse(name, 'must not be null');
    else if (!dropsNulls) reading.variables[name] = null;
  }
  for (const { name, required } of inputs.values())
    if (required && !Object.hasOwn(body, name)) reading.refuse(name, 'is required');
}

function readIdentity(
  reading: Reading,
  { field, parameter }: BodyRules['identity'],
  raw: unknown,
  path: Given['path'],
): void {
  if (!parameter) return;
  const isEqual = (typeof raw === 'number' || isLosslessNumber(raw)) && String(raw) === path[parameter];
  if (!isEqual) reading.refuse(field, `must be omitted or equal to ${parameter} in the path`);
}

function isObject(body: unknown): body is object {
  return typeof body === 'object' && body !== null && !Array.isArray(body) && !isLosslessNumber(body);
}
