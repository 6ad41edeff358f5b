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
