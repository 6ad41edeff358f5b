import type { Kind, Table } from './tables';

/**
 * A row as JSON: its members in their order. The two faces spell rows otherwise: GraphQL's identifiers are strings and
 * what is not there is null, REST's are integers and what is not there is left out.
 */
export interface Shape {
  readonly spelling: Spelling;
  readonly members: readonly Member[];
  /** Whether nothing but an array of them is asked for. */
  readonly isList?: boolean;
}

export type Spelling = 'graphql' | 'rest';

/** A member under its key: a constant, a column, or a relation to one other row. */
export type Member =
  | { readonly key: string; readonly constant: string }
  | { readonly key: string; readonly field: string; readonly shape?: Shape };

/**
 * The SQL that spells a row as JSON.stringify would, and the relations that it needs; `undefined` where the shape asks for
 * more than columns and relations to one row.
 */
export function jsonOf<Row>(
  table: Table<Row>,
  shape: Shape,
): { text: string; relations: string[] } | undefined {
  const relations = new Set<string>();
  const members: string[] = [];
  for (const [i, member] of shape.members.entries()) {
    const name = literal(`${i ? ',' : ''}${JSON.stringify(member.key)}:`);
    if ('constant' in member) {
      members.push(`${name} || ${literal(JSON.stringify(member.constant))}`);
      continue;
    }
    const value = spellingOf(table, member, shape.spelling, relations);
    if (value === undefined) return undefined;
    // Without a member that is always there in front of it, it would not be known whether a comma is due.
    if (shape.spelling === 'rest' && i === 0 && member.field !== table.idField) return undefined;
    members.push(
      shape.spelling === 'rest'
        ? `coalesce(${name} || ${value}, '')`
        : `${name} || coalesce(${value}, 'null')`,
    );
  }
  return { text: `'{' || ${members.join(' || ')} || '}'`, relations: [...relations] };
}

/** SQL text; null where there is no value. */
function spellingOf<Row>(
  table: Table<Row>,
  { field, shape }: { field: string; shape?: Shape },
  spelling: Spelling,
  relations: Set<string>,
): string | undefined {
  const relation = table.relations[field];
  if (shape && relation) {
    const other = relation.table();
    const inner = jsonOf(other, shape);
    if (!inner || inner.relations.length) return undefined;
    relations.add(field);
    return `case when ${other.columns[other.idField]} is not null then ${inner.text} end`;
  }
  const column = table.columns[field];
  const kind = table.kinds[field];
  return shape || column === undefined || kind === undefined ? undefined : spell(column, kind, spelling);
}

function spell(column: string, kind: Kind, spelling: Spelling): string {
  switch (kind) {
    case 'id':
      return spelling === 'rest' ? `${column}::text` : quoted(column);
    case 'word':
      return quoted(column);
    case 'text':
      return `to_json(${column})::text`;
    case 'moment':
      return quoted(`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);
    default:
      return `${column}::text`;
  }
}

function quoted(expression: string): string {
  return `'"' || ${expression} || '"'`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
