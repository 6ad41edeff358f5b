import { parseArgs } from 'node:util';
import { KEY_ID_FORM, KEY_ID_RULE } from '../../access/key-format';
import { PLANS } from '../../rate-limit/plans';
import { type Call, CommandError, type Connection, callGateway } from './gateway-client';

const USAGE = `Usage: npm run keys -- <command> [options]

  create --name NAME [--plan PLAN] [--scopes read,write] [--per-minute N --per-day N] [--expires DATE-TIME]
  list
  update ID [--name NAME] [--plan PLAN] [--scopes …] [--per-minute N] [--per-day N] [--expires DATE-TIME|never]
  rotate ID [--grace DURATION]
  revoke ID
  unban ID-OR-ADDRESS
  usage [ID] [--days N]

  PLAN is ${Object.keys(PLANS).join(', ').toLowerCase()} or enterprise; scopes are read, write and admin.
  rotate gives a key a new secret; DURATION is how long the old one still works: 0, 90s, 30m, 24h (the default), 7d.
  usage prints what a key used on each of the last 30 days, or of N; without an ID, the callers that used most.
  --url URL    the running gateway (default: PETSTORE_URL, or http://127.0.0.1 at PORT or 4000)
  --key KEY    an admin key (default: PETSTORE_API_KEY or ADMIN_API_KEY)
  --json       print JSON
`;

const OPTIONS = {
  name: { type: 'string' },
  plan: { type: 'string' },
  scopes: { type: 'string' },
  'per-minute': { type: 'string' },
  'per-day': { type: 'string' },
  expires: { type: 'string' },
  grace: { type: 'string' },
  days: { type: 'string' },
  url: { type: 'string' },
  key: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

type Options = { [name in keyof typeof OPTIONS]?: string | boolean };

const FIELDS = 'id name plan scopes perMinute perDay expiresAt revokedAt lastUsedAt createdAt bannedUntil';

interface Key extends Row {
  id: string;
}

const COMMANDS: Readonly<Record<string, (call: Call, options: Options, target: string) => Promise<Result>>> = {
  async create(call, options) {
    if (options.name === undefined) throw new CommandError(`create requires --name.\n\n${USAGE}`);
    const { createApiKey } = await call<{ createApiKey: { apiKey: Key; secret: string } }>(
      `mutation CreateApiKey($input: NewApiKey!) { createApiKey(input: $input) { secret apiKey { ${FIELDS} } } }`,
      { input: inputFrom(options) },
    );
    const remark = `The key, shown only once:\n\n  ${createApiKey.secret}\n`;
    return { json: createApiKey, rows: [createApiKey.apiKey], remark };
  },
  async list(call) {
    const keys: Key[] = [];
    let after: string | null = null;
    do {
      const page: { apiKeys: Connection<Key> } = await call(
        `query ApiKeys($after: String) { apiKeys(first: 100, after: $after) { nodes { ${FIELDS} } pageInfo { hasNextPage endCursor } } }`,
        { after },
      );
      keys.push(...page.apiKeys.nodes);
      after = page.apiKeys.pageInfo.hasNextPage ? page.apiKeys.pageInfo.endCursor : null;
    } while (after);
    return { json: keys, rows: keys };
  },
  async update(call, options, id) {
    const { updateApiKey } = await call<{ updateApiKey: Key }>(
      `mutation UpdateApiKey($id: ID!, $input: ApiKeyUpdate!) { updateApiKey(id: $id, input: $input) { ${FIELDS} } }`,
      { id, input: inputFrom(options) },
    );
    return { json: updateApiKey, rows: [updateApiKey] };
  },
  async rotate(call, { grace }, id) {
    const { rotateApiKey } = await call<{ rotateApiKey: { apiKey: Key; secret: string } }>(
      `mutation RotateApiKey($id: ID!, $graceSeconds: Int) { rotateApiKey(id: $id, graceSeconds: $graceSeconds) { secret apiKey { ${FIELDS} } } }`,
      { id, ...(grace !== undefined && { graceSeconds: secondsOf(String(grace)) }) },
    );
    const remark = `The key with its new secret, shown only once:\n\n  ${rotateApiKey.secret}\n`;
    return { json: rotateApiKey, rows: [rotateApiKey.apiKey], remark };
  },
  async revoke(call, _options, id) {
    const { revokeApiKey } = await call<{ revokeApiKey: Key }>(
      `mutation RevokeApiKey($id: ID!) { revokeApiKey(id: $id) { ${FIELDS} } }`,
      { id },
    );
    return { json: revokeApiKey, rows: [revokeApiKey] };
  },
  async unban(call, _options, caller) {
    const { liftBan } = await call<{ liftBan: boolean }>(
      'mutation LiftBan($caller: String!) { liftBan(caller: $caller) }',
      { caller },
    );
    return {
      json: { lifted: liftBan },
      rows: [],
      remark: liftBan ? `The ban of ${caller} is lifted.\n` : `${caller} was not banned.\n`,
    };
  },
  usage: (call, { days }, id) => usage(call, id, days === undefined ? undefined : numberOf('days', { days })),
};

/** What commands act on, in words; all others take no id. */
const TARGETS: Readonly<Record<string, string>> = {
  update: 'one id',
  rotate: 'one id',
  revoke: 'one id',
  unban: 'one id or address',
  usage: 'at most one id',
};

/**
 * `npm run keys`: creates, lists, updates, rotates and revokes the API keys of a running gateway.
 * @returns what to print. @throws CommandError with a message for the user.
 */
export async function runKeys(args: string[], environment: Record<string, string | undefined>): Promise<string> {
  const { values, positionals } = parse(args);
  const [name = '', target = '', ...rest] = positionals;
  if (values.help || !name) return USAGE;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new CommandError(`Unknown command: ${name}.\n\n${USAGE}`);
  const takes = TARGETS[name] ?? 'no id';
  const isRight = name === 'usage' || (takes === 'no id') === (target === '');
  if (rest.length || !isRight) throw new CommandError(`${name} takes ${takes}.\n\n${USAGE}`);
  if (target && name !== 'unban' && !KEY_ID_FORM.test(target))
    throw new CommandError(`${name} takes a key id: ${KEY_ID_RULE}, as \`list\` shows them.`);
  const url = String(values.url ?? (environment.PETSTORE_URL || `http://127.0.0.1:${environment.PORT || 4000}`));
  const key = String(values.key ?? (environment.PETSTORE_API_KEY || environment.ADMIN_API_KEY || ''));
  const result = await command((query, variables) => callGateway(url, key, query, variables), values, target);
  if (values.json) return `${JSON.stringify(result.json, null, 2)}\n`;
  return [result.rows.length ? table(result.rows) : '', result.remark ?? ''].filter(Boolean).join('\n');
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new CommandError(`${(error as Error).message}\n\n${USAGE}`);
  }
}

/** Only the given options: an update leaves the rest unchanged. */
function inputFrom(options: Options): object {
  const { name, plan, scopes, expires } = options;
  return {
    ...(name !== undefined && { name }),
    ...(plan !== undefined && { plan: String(plan).toUpperCase() }),
    ...(scopes !== undefined && { scopes: String(scopes).toUpperCase().split(/ *, */) }),
    ...(options['per-minute'] !== undefined && { perMinute: numberOf('per-minute', options) }),
    ...(options['per-day'] !== undefined && { perDay: numberOf('per-day', options) }),
    ...(expires !== undefined && { expiresAt: expires === 'never' ? null : expires }),
  };
}

const SECONDS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };

/** The seconds of a duration: `90s`, `30m`, `24h`, `7d`. */
function secondsOf(text: string): number {
  const [, number, unit = ''] = /^([0-9]{1,9})([smhd]?)$/.exec(text) ?? [];
  if (number === undefined)
    throw new CommandError(`--grace must be a duration such as 24h, not ${JSON.stringify(text)}.`);
  return Number(number) * (SECONDS[unit] ?? 1);
}

function numberOf(name: 'per-minute' | 'per-day' | 'days', options: Options): number {
  const text = String(options[name]);
  if (/^[0-9]+$/.test(text)) return Number(text);
  throw new CommandError(`--${name} must be a whole number, not ${JSON.stringify(text)}.`);
}

/** The most callers that are listed. */
const MOST = 100;

/** What a key used on each of the last days; without an id, who used most on all of them. @throws CommandError. */
export async function usage(call: Call, id: string, days?: number): Promise<Result> {
  const variables = days === undefined ? {} : { days };
  return id ? ofKey(call, { id, ...variables }) : ofAll(call, variables);
}

async function ofKey(call: Call, variables: { id: string }): Promise<Result> {
  const { apiKey } = await call<{ apiKey: { usage: Row[] } | null }>(
    'query Usage($id: ID!, $days: Int = 30) { apiKey(id: $id) { usage(days: $days) { date requests refused bans } } }',
    variables,
  );
  if (!apiKey) throw new CommandError(`API key ${variables.id} does not exist.`);
  return { json: apiKey.usage, rows: apiKey.usage };
}

async function ofAll(call: Call, variables: object): Promise<Result> {
  const { topCallers } = await call<{
    topCallers: { apiKey: Row | null; requests: number; refused: number; bans: number }[];
  }>(
    `query TopCallers($days: Int = 30) {
      topCallers(days: $days, first: ${MOST}) { apiKey { id name plan } requests refused bans }
    }`,
    variables,
  );
  const rows = topCallers.map(({ apiKey, ...used }) => ({
    id: apiKey?.id ?? 'anonymous',
    name: apiKey?.name,
    plan: apiKey?.plan,
    ...used,
  }));
  return { json: topCallers, rows, ...(!rows.length && { remark: 'Nothing was used on these days.\n' }) };
}

export interface Row {
  readonly [column: string]: unknown;
}

/** What a command prints: rows for people, the same as JSON for programs, and a remark for people. */
export interface Result {
  readonly json: unknown;
  readonly rows: readonly Row[];
  readonly remark?: string;
}

/** Formats rows as a text table with a header, for a terminal; columns without any value are left out. */
export function table(rows: readonly Row[]): string {
  const names = Object.keys(rows[0] ?? {}).filter((name) => rows.some((row) => cell(row[name]) !== ''));
  const lines = [names, ...rows.map((row) => names.map((name) => cell(row[name])))];
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return `${lines
    .map((line) =>
      line
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')}\n`;
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  return Array.isArray(value) ? value.join(',') : String(value);
}
