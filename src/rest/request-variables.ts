import type { FastifyRequest } from 'fastify';
import { coerceInputValue, type GraphQLInputType, getNamedType } from 'graphql';
import { isLosslessNumber } from 'lossless-json';
import { badInput, type ErrorDetail, type Fault } from '../errors/errors';
import { dependsOnPosition, faultsOf, MISSING, notOfForm, typeErrors } from '../errors/input-checks';
import type { CoercedVariables } from '../graphql/context';
import type { Body, Input } from './inputs';
import type { PreparedRoute } from './prepared-route';
import { jsonHint } from './scalar-formats';

/** A request with parsed path parameters and query string. A repeated query parameter is an array. */
export type RestRequest = FastifyRequest<{
  Params: Readonly<Record<string, string>>;
  Querystring: Readonly<Record<string, string | string[]>>;
}>;

/** Maximum number of errors listed for one request. */
const MAX_DETAILS = 100;

/**
 * Builds the variables of an operation's document from a request. Each value is coerced to its type.
 * @throws ProblemError `BAD_USER_INPUT` that lists every invalid input.
 */
export function variablesOf({ inputs, identity }: PreparedRoute, request: RestRequest): CoercedVariables {
  const { path, query, body, fallbacks } = inputs;
  const reading = new Reading();
  for (const [variable, value] of fallbacks) reading.variables[variable] = value;
  for (const [name, input] of path) reading.take(input, request.params[name]);
  readQuery(reading, query, request.query);
  if (body) {
    if (body.variable !== undefined) reading.variables[body.variable] = {};
    if (isObject(request.body)) readBody(reading, body, request.body, identity, request.params);
    else reading.addFault('body', notOfForm('a JSON object'));
  }
  if (reading.details.length) throw badInput(...reading.details.slice(0, MAX_DETAILS));
  return reading.variables as CoercedVariables;
}

/** The variables read from a request so far, and the errors found. */
class Reading {
  readonly variables: Record<string, unknown> = {};
  readonly details: ErrorDetail[] = [];

  take({ name, type, rule, variable, field, read, element, mustBe, range, hint }: Input, raw: unknown): void {
    const given = read(raw);
    const value = coerced(type, given);
    const faults =
      value === undefined || dependsOnPosition(getNamedType(type)) ? typeErrors(type, given, name, [element]) : [];
    const isInteger = Number.isInteger(given) || given === Infinity || given === -Infinity;
    const fault = range && isInteger ? range : { message: `${mustBe}${hint(raw)}` };
    for (const each of faults) this.addFault(each.path, { ...each, ...fault });
    if (!faults.length) for (const fault of faultsOf(rule, given)) this.addFault(name, fault);
    if (field === undefined) this.variables[variable] = value;
    else (this.variables[variable] as Record<string, unknown>)[field] = value;
  }

  addFault(path: string, fault: Fault): void {
    this.details.push({ path, ...fault });
  }
}

/** The coerced value; `undefined` if the value does not fit the type. */
function coerced(type: GraphQLInputType, value: unknown): unknown {
  try {
    return coerceInputValue(value, type);
  } catch {
    return undefined;
  }
}

function readQuery(reading: Reading, inputs: ReadonlyMap<string, Input>, query: RestRequest['query']): void {
  for (const name in query) {
    const raw = query[name];
    const input = inputs.get(name);
    if (!input) reading.addFault(name, { message: `is not a parameter of this operation${bracketHint(name, inputs)}` });
    else if (Array.isArray(raw) && !input.repeatable) reading.addFault(name, { message: 'must not be repeated' });
    else reading.take(input, raw);
  }
}

/** Some clients write a list as `status[]=…&status[]=…` or `status[0]=…`. */
function bracketHint(name: string, inputs: ReadonlyMap<string, Input>): string {
  const [, meant = ''] = /^(\w+)\[\d*\]$/.exec(name) ?? [];
  return inputs.get(meant)?.repeatable ? `; repeat ${meant} for several values` : '';
}

function readBody(
  reading: Reading,
  { type, inputs, isPatch }: Body,
  given: object,
  identity: PreparedRoute['identity'],
  path: RestRequest['params'],
): void {
  for (const [name, raw] of Object.entries(given)) {
    const input = inputs.get(name);
    if (name === identity.field) readIdentity(reading, identity, raw, path);
    else if (!input) reading.addFault(name, { message: `is not a field of ${type.name}` });
    else if (raw === null && input.required) reading.addFault(name, { ...MISSING, message: 'must not be null' });
    else if (raw !== null || isPatch || input.rule.nullable === false) reading.take(input, raw);
  }
  for (const [name, { required }] of inputs)
    if (required && !Object.hasOwn(given, name)) reading.addFault(name, MISSING);
}

function readIdentity(
  reading: Reading,
  { field, parameter }: PreparedRoute['identity'],
  raw: unknown,
  path: RestRequest['params'],
): void {
  if (!parameter) return;
  const isEqual = (typeof raw === 'number' || isLosslessNumber(raw)) && String(raw) === path[parameter];
  if (!isEqual)
    reading.addFault(field, { message: `must be omitted or equal to ${parameter} in the path${jsonHint('ID', raw)}` });
}

function isObject(body: unknown): body is object {
  return typeof body === 'object' && body !== null && !Array.isArray(body) && !isLosslessNumber(body);
}
