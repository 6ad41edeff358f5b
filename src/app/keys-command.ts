import { parseArgs } from 'node:util';
import { KEY_ID_FORM, KEY_ID_RULE } from '../access/key-format';
import type { GraphQLCall } from '../domain/domain';
import { PLANS } from '../rate-limit/plans';
import { GATEWAY_OPTIONS, GATEWAY_USAGE, gatewayClient } from './gateway-client';
import { CommandError } from './run-command';

const USAGE = `Usage: npm run keys -- <command> [options]

  create --name NAME [--plan PLAN] [--scopes read,write] [--per-minute N --per-day N] [--expires DATE-TIME]
         [--shares-quota-of ID]
  list
  update ID [--name NAME] [--plan PLAN] [--scopes …] [--per-minute N] [--per-day N] [--expires DATE-TIME|never]
  rotate ID [--grace DURATION]
  revoke ID
  unban ID-OR-ADDRESS
  usage [ID] [--days N]

  PLAN is ${Object.keys(PLANS).join(', ').toLowerCase()} or enterprise; scopes are read, write and admin.
  --shares-quota-of gives a key the plan, limits and windows of another key, instead of its own plan.
  rotate gives a key a new secret; DURATION is how long the old secret still works: 0, 90s, 30m, 24h (the default), 7d.
  usage prints the usage of a key on each of the last N days (default: 30). Without an ID, it prints the callers with
  the most requests.
${GATEWAY_USAGE}
  --json       print JSON
`;

const OPTIONS = {
  name: { type: 'string' },
  plan: { type: 'string' },
  scopes: { type: 'string' },
  'per-minute': { type: 'string' },
  'per-day': { type: 'string' },
  expires: { type: 'string' },
  'shares-quota-of': { type: 'string' },
  grace: { type: 'string' },
  days: { type: 'string' },
  ...GATEWAY_OPTIONS,
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

type Options = ReturnType<typeof parse>['values'];

type Row = Readonly<Record<string, unknown>>;

/** The output of a command. */
interface Result {
  /** Printed with `--json`. */
  readonly json: unknown;
  /** The rows of the table that is printed without `--json`. */
  readonly rows: readonly Row[];
  /** A sentence below the table. */
  readonly remark?: string;
}

interface Command {
  /** The argument that the command takes, as worded in the error message. */
  readonly takes: 'no id' | 'one id' | 'one id or address' | 'at most one id';
  run(call: GraphQLCall, options: Options, target: string): Promise<Result>;
}

const FIELDS =
  'id name plan scopes perMinute perDay sharesQuotaOf expiresAt oldSecretExpiresAt revokedAt lastUsedAt createdAt bannedUntil';

const COMMANDS: Readonly<Record<string, Command>> = {
  create: {
    takes: 'no id',
    run: async (call, options) => {
      if (options.name === undefined) throw new CommandError(`create requires --name.\n\n${USAGE}`);
      const { createApiKey } = await call<{ createApiKey: WithSecret }>(
        `mutation CreateApiKey($input: NewApiKey!) { createApiKey(input: $input) { secret apiKey { ${FIELDS} } } }`,
        { input: inputFrom(options) },
      );
      return shownOnce('The key', createApiKey);
    },
  },
  list: {
    takes: 'no id',
    run: async (call) => {
      const keys: Row[] = [];
      let after: string | null = null;
      do {
        const { apiKeys }: { apiKeys: Page } = await call(
          `query ApiKeys($after: String) { apiKeys(first: 100, after: $after) { nodes { ${FIELDS} } pageInfo { hasNextPage endCursor } } }`,
          { after },
        );
        keys.push(...apiKeys.nodes);
        after = apiKeys.pageInfo.hasNextPage ? apiKeys.pageInfo.endCursor : null;
      } while (after);
      return { json: keys, rows: keys };
    },
  },
  update: {
    takes: 'one id',
    run: async (call, options, id) => {
      const { updateApiKey } = await call<{ updateApiKey: Row }>(
        `mutation UpdateApiKey($id: ID!, $input: ApiKeyUpdate!) { updateApiKey(id: $id, input: $input) { ${FIELDS} } }`,
        { id, input: inputFrom(options) },
      );
      return { json: updateApiKey, rows: [updateApiKey] };
    },
  },
  rotate: {
    takes: 'one id',
    run: async (call, { grace }, id) => {
      const { rotateApiKey } = await call<{ rotateApiKey: WithSecret }>(
        `mutation RotateApiKey($id: ID!, $graceSeconds: Int) { rotateApiKey(id: $id, graceSeconds: $graceSeconds) { secret apiKey { ${FIELDS} } } }`,
        { id, ...(grace !== undefined && { graceSeconds: secondsOf(grace) }) },
      );
      return shownOnce('The key with its new secret', rotateApiKey);
    },
  },
  revoke: {
    takes: 'one id',
    run: async (call, _options, id) => {
      const { revokeApiKey } = await call<{ revokeApiKey: Row }>(
        `mutation RevokeApiKey($id: ID!) { revokeApiKey(id: $id) { ${FIELDS} } }`,
        { id },
      );
      return { json: revokeApiKey, rows: [revokeApiKey] };
    },
  },
  unban: {
    takes: 'one id or address',
    run: async (call, _options, caller) => {
      const { liftBan } = await call<{ liftBan: boolean }>(
        'mutation LiftBan($caller: String!) { liftBan(caller: $caller) }',
        { caller },
      );
      const remark = liftBan ? `The ban of ${caller} is lifted.` : `${caller} was not banned.`;
      return { json: { lifted: liftBan }, rows: [], remark };
    },
  },
  usage: {
    takes: 'at most one id',
    run: (call, { days }, id) => {
      const variables = { ...(days !== undefined && { days: numberOf('days', days) }) };
      return id ? usageOf(call, { id, ...variables }) : topCallers(call, variables);
    },
  },
};

/**
 * `npm run keys`: manages API keys, lifts bans and queries usage on a running gateway, and prints the result.
 * @throws CommandError with a message for the user.
 */
export async function runKeys(args: string[], environment: NodeJS.ProcessEnv, output = console): Promise<void> {
  const { values, positionals } = parse(args);
  const [name = '', target = '', ...rest] = positionals;
  if (values.help || !name) return output.log(USAGE.trimEnd());
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new CommandError(`Unknown command: ${name}.\n\n${USAGE}`);
  const { takes } = command;
  const isRight = takes === 'at most one id' || (takes === 'no id') === (target === '');
  if (rest.length || !isRight) throw new CommandError(`${name} takes ${takes}.\n\n${USAGE}`);
  if (target && takes !== 'one id or address' && !KEY_ID_FORM.test(target))
    throw new CommandError(`${name} takes a key id: ${KEY_ID_RULE}. \`list\` shows the key ids.`);
  const { json, rows, remark } = await command.run(gatewayClient(values, environment), values, target);
  if (values.json) return output.log(JSON.stringify(json, null, 2));
  if (rows.length) output.table(rows.map(inText), columnsOf(rows));
  if (remark) output.log(remark);
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new CommandError(`${(error as Error).message}\n\n${USAGE}`);
  }
}

/** The columns that have a value in at least one row. */
function columnsOf(rows: readonly Row[]): string[] {
  return Object.keys(rows[0] ?? {}).filter((name) => rows.some((row) => row[name] != null));
}

function inText({ scopes, ...row }: Row): Row {
  return Array.isArray(scopes) ? { ...row, scopes: scopes.join() } : row;
}

interface Page {
  readonly nodes: readonly Row[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

interface WithSecret {
  readonly apiKey: Row;
  readonly secret: string;
}

function shownOnce(what: string, key: WithSecret): Result {
  return { json: key, rows: [key.apiKey], remark: `\n${what}, shown only once:\n\n  ${key.secret}` };
}

/** The GraphQL input. It contains only the options that were given, so that an update leaves all other fields unchanged. */
function inputFrom({ name, plan, scopes, expires, ...options }: Options): object {
  const { 'per-minute': perMinute, 'per-day': perDay, 'shares-quota-of': sharesQuotaOf } = options;
  return {
    ...(name !== undefined && { name }),
    ...(plan !== undefined && { plan: plan.toUpperCase() }),
    ...(scopes !== undefined && { scopes: scopes.toUpperCase().split(/ *, */) }),
    ...(perMinute !== undefined && { perMinute: numberOf('per-minute', perMinute) }),
    ...(perDay !== undefined && { perDay: numberOf('per-day', perDay) }),
    ...(sharesQuotaOf !== undefined && { sharesQuotaOf }),
    ...(expires !== undefined && { expiresAt: expires === 'never' ? null : expires }),
  };
}

const SECONDS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };

/** Converts a duration, such as `90s`, `30m`, `24h` or `7d`, to seconds. */
function secondsOf(text: string): number {
  const [, number, unit = ''] = /^([0-9]{1,9})([smhd]?)$/.exec(text) ?? [];
  if (number === undefined)
    throw new CommandError(`--grace must be a duration such as 24h, not ${JSON.stringify(text)}.`);
  return Number(number) * (SECONDS[unit] ?? 1);
}

function numberOf(option: string, text: string): number {
  if (/^[0-9]+$/.test(text)) return Number(text);
  throw new CommandError(`--${option} must be a whole number, not ${JSON.stringify(text)}.`);
}

async function usageOf(call: GraphQLCall, variables: { id: string; days?: number }): Promise<Result> {
  const { apiKey } = await call<{ apiKey: { usage: Row[] } | null }>(
    'query Usage($id: ID!, $days: Int = 30) { apiKey(id: $id) { usage(days: $days) { date requests refused bans } } }',
    variables,
  );
  if (!apiKey) throw new CommandError(`API key ${variables.id} does not exist.`);
  return { json: apiKey.usage, rows: apiKey.usage };
}

/** The 100 callers with the most requests. */
async function topCallers(call: GraphQLCall, variables: { days?: number }): Promise<Result> {
  const { topCallers: callers } = await call<{ topCallers: { kind: string; apiKey: Row | null }[] }>(
    `query TopCallers($days: Int = 30) {
      topCallers(days: $days, first: 100) { kind apiKey { id name plan } requests refused bans }
    }`,
    variables,
  );
  const rows = callers.map(({ kind, apiKey, ...used }) => ({
    id: apiKey?.id ?? kind.toLowerCase(),
    name: apiKey?.name,
    plan: apiKey?.plan,
    ...used,
  }));
  return { json: callers, rows, ...(!rows.length && { remark: 'No usage on these days.' }) };
}
