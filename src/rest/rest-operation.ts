export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A group of operations in the documentation. */
export interface Tag {
  readonly name: string;
  readonly description: string;
}

/** The REST interface. */
export interface RestApi {
  readonly title: string;
  /** In Markdown. */
  readonly description: string;
  /** The tags of operations, by the first part of their paths. */
  readonly tags: Readonly<Record<string, Tag>>;
  readonly operations: readonly RestOperation[];
}

/** One operation of the REST interface: a path, and the GraphQL document that answers it. */
export interface RestOperation {
  /** Method and path, as in `GET /things/{thingId}`. */
  readonly on: `${Method} /${string}`;
  readonly ok: 200 | 201 | 204;
  readonly summary: string;
  /** By default the description of the field. */
  readonly description?: string;
  /**
   * The operation id is its name, and the inputs are its variables. A variable named in the path is a path parameter, one of
   * an input type is the body, and the rest are query parameters. All operations select a type by the same fragment.
   */
  readonly document: string;
  /** The input type of the body, if no variable has it: each of its fields has a variable of its name. */
  readonly body?: string;
  /** The path of the payload, if it is not the root field: `viewer.usage`. The payload of a page is its `nodes`. */
  readonly payload?: string;
  /** The error message of a read that finds nothing. By default it says that the object does not exist. */
  readonly missing?: string;
  readonly deprecation?: Deprecation;
}

/** The deprecation of an operation: its date, its sunset, and the replacement. */
export interface Deprecation {
  readonly since: Date;
  readonly sunset: Date;
  /** A path of this service; `{thingId}` stands for the path parameter. */
  readonly successor: string;
}

export function routeOf({ on }: Pick<RestOperation, 'on'>): { method: Method; path: string } {
  const space = on.indexOf(' ');
  return { method: on.slice(0, space) as Method, path: on.slice(space + 1) };
}

export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** Fills path parameters into a template of the table, in place of `{thingId}`. */
export function filler(template: string): (path: Readonly<Record<string, string>>) => string {
  // Every second piece is a parameter's name.
  const pieces = template.split(/\{(\w+)\}/);
  return (path) => pieces.map((piece, i) => (i % 2 ? encodeURIComponent(path[piece] ?? '') : piece)).join('');
}
