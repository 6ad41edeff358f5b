import { isLosslessNumber } from 'lossless-json';
import { badInput, type ErrorDetail } from '../domain/errors';
import { valueErrors } from '../graphql/variable-errors';
import type { Variables } from '../graphql/variables';
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
export function variablesOf({ inputs, bodyRules }: Recipe, given: Given): Variables {
  const reading = new Reading();
  for (const input of inputs.path.values()) reading.take(input, given.path[input.name]);
  readQuery(reading, inputs.query, given.query);
  if (bodyRules) readBody(reading, inputs.body, bodyRules, given);
  if (reading.details.length) throw badInput(...reading.details.slice(0, MAX_DETAILS));
  return reading.variables;
}

/** What has been read of a request, and what was wrong with it. */
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
    else if (Array.isArray(raw) && !input.repeatable) reading.refuse(name, 'must be given only once');
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
    if (required && !Object.hasOwn(body, name)) reading.refuse(name, 'must be given');
}

function readIdentity(
  reading: Reading,
  { field, parameter }: BodyRules['identity'],
  raw: unknown,
  path: Given['path'],
): void {
  if (!parameter) return;
  const isEqual = (typeof raw === 'number' || isLosslessNumber(raw)) && String(raw) === path[parameter];
  if (!isEqual) reading.refuse(field, `must be left out or equal ${parameter} of the path`);
}

function isObject(body: unknown): body is object {
  return typeof body === 'object' && body !== null && !Array.isArray(body) && !isLosslessNumber(body);
}
