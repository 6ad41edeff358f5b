/** What a generated client has done in a shop of one category. */
export interface Outcome {
  /** The statuses of the created pets. */
  readonly created: (string | undefined)[];
  /** The names on each page. */
  readonly pages: string[][];
  readonly ordered: { readonly petId?: number; readonly quantity?: number };
  /** The code and details of errors. */
  readonly errors: unknown[];
}

/** The cursor of the next page; `undefined` on the last page. */
export function nextCursor(link: string | null): string | undefined {
  const [, next] = /<([^>]+)>; rel="next"/.exec(link ?? '') ?? [];
  return next && (new URLSearchParams(next.split('?')[1]).get('cursor') ?? undefined);
}
