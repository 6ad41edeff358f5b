const LENGTH = 60;

/**
 * A row of `test.each` with a title before it: its first values, shortened, which `%s` and `%j` would print whole.
 * @param values how many of its values the title has.
 */
export function titled<Row extends readonly unknown[]>(row: Row, values = 1): [title: string, ...row: Row] {
  const texts = row.slice(0, values).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return [texts.join(' ').slice(0, LENGTH), ...row];
}
