/** The number of objects and scalars in a response. */
export function valuesIn(data: unknown): number {
  if (Array.isArray(data)) return data.reduce((total: number, item) => total + valuesIn(item), 0);
  if (typeof data !== 'object' || data === null) return 1;
  return 1 + Object.values(data).reduce((total: number, value) => total + valuesIn(value), 0);
}
