export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A group of operations in the documentation. */
export interface Tag {
  readonly name: string;
  readonly description: string;
}

/** The REST interface. */
export interface RestApi {
  readonly title: string;
  /** The description, in Markdown. */
  readonly description: string;
  /** The tags of operations, by the first segment of their paths. */
  readonly tags: Readonly<Record<string, Tag>>;
  readonly routes: readonly RestRoute[];
}

/** One operation of the REST interface: a method and path, and the GraphQL document that runs for them. */
export interface RestRoute {
  /** The method and the path: `GET /things/{thingId}`. */
  readonly on: `${Method} /${string}`;
  readonly ok: 200 | 201 | 204;
  readonly summary: string;
  /** The description. The default is the description of the GraphQL field. */
  readonly description?: string;
  /**
   * The GraphQL document. The name of its operation is the `operationId`. Its variables are the inputs. A variable named in the
   * path is a path parameter, and a variable of an input type is the body. All other variables are query parameters. All
   * documents that return a type must select the same fields of this type.
   */
  readonly document: string;
  /**
   * The input type of the body, if no variable holds the whole body. Then each field of the type needs a variable of the
   * same name. If the GraphQL schema has no type of this name, the body has a field for each variable that is not in the
   * path.
   */
  readonly body?: string;
  /**
   * The path of the field that returns the payload, such as `viewer.usage`. The default is the root field. If the field
   * returns a page, the payload is its `nodes`.
   */
  readonly payload?: string;
  /**
   * The path of the object that the operation creates, for the `Location` header of a 201. `{name}` stands for a path parameter
   * or a field of the payload. The default is the path of the operation, followed by `/{id}`.
   */
  readonly location?: string;
  /**
   * Set if items are added to the end of the list later. Each response then has a `Link` with `rel="monitor"`, which leads to
   * these items. With `Accept: text/event-stream`, the response is a stream of the items. The document must have the variables
   * `$cursor` and `$limit`, and select the field `cursor` of the items.
   */
  readonly additions?: Additions;
  /** The error message if the operation returns null. The default says that the object does not exist. */
  readonly missing?: string;
  readonly deprecation?: Deprecation;
}

/** The items that are added to a list later. */
export interface Additions {
  /** Calls the listener whenever there may be new items. @returns a function that removes the listener. */
  listen(listener: () => void): () => void;
}

/** The URL of a route's documentation. @param id see `PreparedRoute.id`. */
export function documentationOf({ id }: { readonly id: string }): string {
  return `/docs/rest#${id}`;
}

/** The deprecation of a route: its date, its sunset, and the replacement. */
export interface Deprecation {
  readonly since: Date;
  readonly sunset: Date;
  /** The path of the replacement on this server. `{thingId}` stands for the value of the path parameter. */
  readonly successor: string;
}

export function methodAndPath({ on }: Pick<RestRoute, 'on'>): { method: Method; path: string } {
  const space = on.indexOf(' ');
  return { method: on.slice(0, space) as Method, path: on.slice(space + 1) };
}

export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** Creates a function that fills path parameters into a template: `{thingId}` is replaced by the value of this parameter. */
export function filler(template: string): (path: Readonly<Record<string, string>>) => string {
  // Splitting by a pattern with a group returns texts and parameter names alternately.
  const pieces = template.split(/\{(\w+)\}/);
  return (path) => pieces.map((piece, i) => (i % 2 ? encodeURIComponent(path[piece] ?? '') : piece)).join('');
}
