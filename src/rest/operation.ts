import type { ErrorCode } from '../graphql/problem';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Schemas of the OpenAPI document for response bodies. */
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

/** Schemas of the OpenAPI document for request bodies. */
export type BodySchema =
  | 'NewPet'
  | 'PetUpdate'
  | 'NewCategory'
  | 'CategoryUpdate'
  | 'NewOrder'
  | 'OrderUpdate'
  | 'InventoryUpdate';

export const TAGS = {
  Pets: 'Animals, each with a name, a category and a status.',
  Categories: 'Kinds of animals. A category that still has pets cannot be deleted.',
  Store:
    'Orders for animals, and the stock that they draw on. An order takes its units when it is placed, and returns them when it is cancelled.',
  Limits: 'What a plan allows, and how much of it is left.',
};

/** What an operation does, and its documentation. */
export interface Definition {
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description: string;
  /**
   * The prepared GraphQL document. Its variables are the operation's inputs, under their names: from the path if they
   * appear in it, else from the query string of a GET and from the body of every other method. Its root field is the
   * payload; for a connection, its `nodes`.
   */
  readonly document: string;
  /** The description of each query parameter other than `limit`, `cursor` and `sort`. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly body?: BodySchema;
  /** The field of the payload that identifies the resource, if it is not `id`. */
  readonly identity?: string;
  /** The error message of a read that finds nothing; `{petId}` stands for the path parameter. */
  readonly missing?: string;
  /** Errors beyond those that every operation of its kind may return. */
  readonly errors?: readonly ErrorCode[];
  readonly deprecation?: Deprecation;
}

/** One operation of the REST interface: its route, its success response, and what it does. */
export interface Operation extends Definition {
  /** `operationId` in OpenAPI. */
  readonly id: string;
  /** Method and path, as in `GET /pets/{petId}`. */
  readonly on: `${Method} /${string}`;
  /** The success status, and the schema of the payload. */
  readonly ok: readonly [200 | 201, Payload] | readonly [204];
}

/** Since when an operation is deprecated, until when it is available, and what to use instead. */
export interface Deprecation {
  readonly since: Date;
  readonly sunset: Date;
  /** A path of this service; `{petId}` stands for the path parameter. */
  readonly successor: string;
}

/** Whether the operation accepts an idempotency key. The others can be retried as they are. */
export function takesIdempotencyKey(operation: Operation): boolean {
  const { method } = routeOf(operation);
  return method === 'POST' || method === 'PATCH';
}

/** The method and the path of an operation. */
export function routeOf({ on }: Operation): { method: Method; path: string } {
  const space = on.indexOf(' ');
  return { method: on.slice(0, space) as Method, path: on.slice(space + 1) };
}

/** Fills path parameters into a template of the table, in place of `{petId}`. */
export function filler(template: string): (path: Readonly<Record<string, string>>) => string {
  // Every second piece is a parameter's name.
  const pieces = template.split(/\{(\w+)\}/);
  return (path) => pieces.map((piece, i) => (i % 2 ? encodeURIComponent(path[piece] ?? '') : piece)).join('');
}
