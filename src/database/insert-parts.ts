import type { Column } from './reading/table';

/** Columns of one table, by field name. */
type Columns = Readonly<Record<string, Pick<Column, 'sql' | 'type'>>>;

/**
 * The parts of an INSERT statement for one row. The parameters of the statement are the values of the columns, in the order
 * of `fields`. The database stores them unchanged, so the statement need not return them.
 */
export function insertParts<Given extends Columns>(columns: Given) {
  const fields = Object.keys(columns) as (keyof Given & string)[];
  const entries = fields.map((field, i) => [field, `$${i + 1}::${columns[field]?.type}`]);
  const parameters: { readonly [field in keyof Given]: string } = Object.fromEntries(entries);
  return {
    fields,
    parameters,
    columns: fields.map(
      (field) => [nameOf(columns[field] as Columns[string]), columns[field]?.type as string] as const,
    ),
    names: fields.map((field) => nameOf(columns[field] as Columns[string])).join(', '),
    placeholders: fields.map((field) => parameters[field]).join(', '),
  };
}

/** The name of a column without its table: `category_id` for `pets.category_id`. */
function nameOf({ sql }: Columns[string]): string {
  return sql.slice(sql.indexOf('.') + 1);
}
