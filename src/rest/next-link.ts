type Query = Readonly<Record<string, string | string[]>>;

/** The `Link` to the page after `cursor` (RFC 8288), with all other parameters unchanged. */
export function nextLink(path: string, query: Query, cursor: string): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (name !== 'cursor') for (const each of [value].flat()) parameters.append(name, each);
  }
  parameters.append('cursor', cursor);
  return `<${path}?${parameters}>; rel="next"`;
}
