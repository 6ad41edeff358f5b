import type { OpenAPIV3 } from 'openapi-types';

export type Operation = OpenAPIV3.OperationObject<Record<string, unknown>>;

type Tree = Record<string, unknown>;

/** Replaces each `$ref` by the part of the document to which the `$ref` points. */
function resolved(node: unknown, document: Tree): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map((item) => resolved(item, document));
  if ('$ref' in node) {
    const path = String(node.$ref).replace('#/', '').split('/');
    return resolved(
      path.reduce((part: Tree, name) => part[name] as Tree, document),
      document,
    );
  }
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, resolved(value, document)]));
}

/** An OpenAPI document with every reference resolved. */
export class Description {
  private constructor(private readonly whole: OpenAPIV3.Document) {}

  static of(document: OpenAPIV3.Document): Description {
    return new Description(resolved(document, { ...document }) as OpenAPIV3.Document);
  }

  /** All operations. The key of an operation is its method and path, such as `GET /pets`. */
  get operations(): Map<string, Operation> {
    return new Map(
      Object.entries(this.whole.paths).flatMap(([path, item]) =>
        Object.entries(item ?? {}).map(([method, operation]): [string, Operation] => [
          `${method.toUpperCase()} ${path}`,
          operation as Operation,
        ]),
      ),
    );
  }

  operation(on: string): Operation {
    const found = this.operations.get(on);
    if (!found) throw new Error(`${on} is not in the document`);
    return found;
  }

  parameters(on: string): (OpenAPIV3.ParameterObject & Record<string, unknown>)[] {
    return this.operation(on).parameters as (OpenAPIV3.ParameterObject & Record<string, unknown>)[];
  }

  response(on: string, status: number | string): OpenAPIV3.ResponseObject {
    return this.operation(on).responses[status] as OpenAPIV3.ResponseObject;
  }

  schema(name: string): OpenAPIV3.SchemaObject {
    return this.whole.components?.schemas?.[name] as OpenAPIV3.SchemaObject;
  }
}

/** The schema of a JSON body. */
export function jsonSchema(body: OpenAPIV3.ResponseObject | OpenAPIV3.RequestBodyObject): OpenAPIV3.SchemaObject {
  const { 'application/json': json } = body.content ?? {};
  return (json?.schema ?? {}) as OpenAPIV3.SchemaObject;
}
