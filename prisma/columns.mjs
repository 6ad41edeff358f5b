// A Prisma generator that writes the columns of each table to a TypeScript file. The gateway's own SQL statements need them,
// and the Prisma client does not reveal which fields may be null. Prisma sends JSON-RPC requests to standard input, one per
// line, and reads the responses from standard error.
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/**
 * The kind of value and the SQL type, by Prisma type. Columns of other types, except enums, can be read, but neither
 * searched nor read as JSON.
 */
const TYPES = {
  BigInt: ['id', 'bigint'],
  String: ['text', 'text'],
  Int: ['integer', 'integer'],
  Boolean: ['boolean', 'boolean'],
  Timestamptz: ['timestamp', 'timestamptz'],
  Date: ['date', 'date'],
};

function columnsOf({ name, dbName, fields }, enums) {
  const table = dbName ?? name;
  const typeOf = ({ type, isList, nativeType }) => {
    const found = enums.find((each) => each.name === type);
    const known = found ? ['enum', found.dbName ?? `"${type}"`] : TYPES[nativeType?.[0] ?? type];
    return (!isList && known) || ['other', ''];
  };
  const columns = fields
    .filter(({ kind }) => kind !== 'object')
    .map((field) => {
      const [kind, type] = typeOf(field);
      const sql = `${table}.${field.dbName ?? field.name}`;
      return [field.name, { sql, kind, type, isNullable: !field.isRequired }];
    });
  return [table, Object.fromEntries(columns)];
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === 'generate') {
    const { models, enums } = params.dmmf.datamodel;
    const columns = Object.fromEntries(models.map((model) => columnsOf(model, enums)));
    const text = `export const COLUMNS = ${JSON.stringify(columns, null, 2)} as const;\n`;
    writeFileSync(params.generator.output.value, text);
  }
  const result = method === 'getManifest' ? { manifest: { defaultOutput: '.' } } : null;
  process.stderr.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
}
