import { type Call, CommandError } from './gateway-client';
import type { Result, Row } from './text-table';

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
