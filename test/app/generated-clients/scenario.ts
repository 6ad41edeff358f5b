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

/** A response, as a client returns it. */
interface Result<Data> {
  readonly data?: Data;
  readonly error?: { readonly code: string; readonly status: number; readonly details?: { readonly path: string }[] };
  readonly response: { readonly headers: Headers };
}

/** The operations of the scenario, called by a generated client. */
export interface Operations {
  createPet(pet: {
    name: string;
    categoryId: number;
    status?: 'sold';
  }): Promise<Result<{ id: number; status?: string }>>;
  listPets(query: {
    limit: number;
    status: ('available' | 'sold')[];
    sort: '-name';
    cursor?: string;
  }): Promise<Result<{ name: string }[]>>;
  placeOrder(order: { petId?: number; quantity: number }): Promise<Result<{ petId?: number; quantity?: number }>>;
  getCategory(categoryId: number): Promise<Result<unknown>>;
}

export async function play(operations: Operations): Promise<Outcome> {
  const created = [
    await operations.createPet({ name: 'Luna', categoryId: 1 }),
    await operations.createPet({ name: 'Tom', categoryId: 1, status: 'sold' }),
  ].map(({ data }) => data);
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: 1, status: ['available' as const, 'sold' as const], sort: '-name' as const, cursor };
    const { data, error, response } = await operations.listPets(query);
    if (!data) throw new Error(error?.code);
    pages.push(data.map(({ name }) => name));
    cursor = nextCursor(response.headers.get('link'));
  } while (cursor);
  const order = await operations.placeOrder({ petId: created[0]?.id, quantity: 2 });
  const invalid = await operations.createPet({ name: '', categoryId: 1 });
  const missing = await operations.getCategory(77);
  return {
    created: created.map((pet) => pet?.status),
    pages,
    ordered: { petId: order.data?.petId, quantity: order.data?.quantity },
    errors: [
      [invalid.error?.code, invalid.error?.details?.map(({ path }) => path)],
      [missing.error?.code, missing.error?.status],
    ],
  };
}

/** The cursor of the next page; `undefined` on the last page. */
function nextCursor(link: string | null): string | undefined {
  const [, next] = /<([^>]+)>; rel="next"/.exec(link ?? '') ?? [];
  return next && (new URLSearchParams(next.split('?')[1]).get('cursor') ?? undefined);
}
