const LENGTH = 60;

/**
 * Adds a title as the first element of a row of `test.each`. The title is the row's first values, cut to 60 characters, because
 * `%s` and `%j` print long values in full.
 * @param values the number of values in the title.
 */
export function titled<Row extends readonly unknown[]>(row: Row, values = 1): [title: string, ...row: Row] {
  const texts = row.slice(0, values).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return [texts.join(' ').slice(0, LENGTH), ...row];
}
