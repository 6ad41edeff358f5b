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
  readonly operations: readonly Operation[];
}

/** One operation of the REST interface: its route, its success status, what it does, and its documentation. */
export interface Operation {
  /** `operationId` in OpenAPI. */
  readonly id: string;
  /** Method and path, as in `GET /things/{thingId}`. */
  readonly on: `${Method} /${string}`;
  readonly ok: 200 | 201 | 204;
  readonly summary: string;
  /** By default that of the root field. */
  readonly description?: string;
  /**
   * The root field that it runs, or a field of it: `Query.viewer.usage`. Its arguments are the parameters of a GET, and its
   * `input` is the body; the values of the object that it returns are the payload, for a connection those of its `nodes`.
   */
  readonly field: `${'Query' | 'Mutation'}.${string}`;
  /** Set if the body replaces the object: its input type, and the values of absent fields, if not null. */
  readonly replaces?: { readonly type: string; readonly defaults?: Readonly<Record<string, unknown>> };
  /** The fields of the payload, if they are not all values of the object. */
  readonly payload?: readonly string[];
  /** The error message of a read that finds nothing, if not that the object does not exist. */
  readonly missing?: string;
  /** The parameters for the fields of a filter, whose names are plural: REST repeats a parameter. */
  readonly filters?: Readonly<Record<string, string>>;
  readonly deprecation?: Deprecation;
}

/** Since when an operation is deprecated, until when it is available, and what to use instead. */
export interface Deprecation {
  readonly since: Date;
  readonly sunset: Date;
  /** A path of this service; `{thingId}` stands for the path parameter. */
  readonly successor: string;
}

export function routeOf({ on }: Operation): { method: Method; path: string } {
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
