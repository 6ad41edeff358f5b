import type { ErrorCode } from '../graphql/errors';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Schemas of the OpenAPI document that answers consist of. */
export type Payload =
  | 'Pets'
  | 'Pet'
  | 'Categories'
  | 'Category'
  | 'Orders'
  | 'Order'
  | 'Inventory'
  | 'InventoryItem'
  | 'RateLimit';

/** Schemas of the OpenAPI document that requests consist of. */
export type BodySchema =
  | 'NewPet'
  | 'PetUpdate'
  | 'NewCategory'
  | 'CategoryUpdate'
  | 'NewOrder'
  | 'OrderUpdate'
  | 'InventoryUpdate';

export const TAGS = {
  Pets: 'The animals: each has a name, a category and a status.',
  Categories: 'The kinds of animals. One that still has pets cannot be deleted.',
  Store:
    'Orders for animals, and the stock that they are taken from. An order takes its units when it is placed, and gives them back when it is cancelled.',
  Limits: 'What a plan allows, and what is left of it.',
};

/** What an operation does, and what its users read of it. */
export interface Definition {
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description: string;
  /**
   * The prepared GraphQL document. Its variables are the operation's inputs, under their names: those that stand in the
   * path come from there, all others from the query string of a GET and from the body of everything else. Its root field
   * is the payload; of a connection, its `nodes`.
   */
  readonly document: string;
  /** The meaning of each query parameter beside `limit`, `cursor` and `sort`. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly body?: BodySchema;
  /** The field of the payload that is the resource's identity, where it is not `id`. */
  readonly identity?: string;
  /** Why a read finds nothing; `{petId}` stands for the path parameter. */
  readonly missing?: string;
  /** Errors beyond those that every operation of its kind may answer. */
  readonly errors?: readonly ErrorCode[];
  readonly deprecation?: Deprecation;
}

/** One operation of the REST interface: where it is asked for, what it answers, and what it does. */
export interface Operation extends Definition {
  /** `operationId` in OpenAPI. */
  readonly id: string;
  /** Method and path, as in `GET /pets/{petId}`. */
  readonly on: `${Method} /${string}`;
  /** The status of its success, and the schema of its payload. */
  readonly ok: readonly [200 | 201, Payload] | readonly [204];
}

/** An operation that will go away: since when it is deprecated, until when it answers, and what to use instead. */
export interface Deprecation {
  readonly since: Date;
  readonly sunset: Date;
  /** A path of this service; `{petId}` stands for the path parameter. */
  readonly successor: string;
}

/** Whether requests for the operation may come with an idempotency key: the others can be sent again as they are. */
export function takesIdempotencyKey(operation: Operation): boolean {
  const { method } = routeOf(operation);
  return method === 'POST' || method === 'PATCH';
}

/** The method and the path of an operation. */
export function routeOf({ on }: Operation): { method: Method; path: string } {
  const space = on.indexOf(' ');
  return { method: on.slice(0, space) as Method, path: on.slice(space + 1) };
}

/** Puts path parameters in the place of `{petId}` in a template of the table. */
export function filler(template: string): (path: Readonly<Record<string, string>>) => string {
  // Every second piece is a name.
  const pieces = template.split(/\{(\w+)\}/);
  return (path) => pieces.map((piece, i) => (i % 2 ? encodeURIComponent(path[piece] ?? '') : piece)).join('');
}
