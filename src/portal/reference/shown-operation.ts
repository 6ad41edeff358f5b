import type { OpenAPIV3 } from 'openapi-types';
import { nameOf } from './rest-schema-html';

type Components = OpenAPIV3.ComponentsObject;

/** An operation of the document, with its references resolved. */
export interface ShownOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: OpenAPIV3.OperationObject & { 'x-stability'?: string; 'x-sunset'?: string };
  readonly parameters: readonly ShownParameter[];
  /** Responses by status; those of `default` are of HTTP itself. */
  readonly responses: readonly (readonly [status: string, response: OpenAPIV3.ResponseObject])[];
}

export type ShownParameter = OpenAPIV3.ParameterObject & {
  'x-stability'?: string;
  /** Whether operations share it: it is described once, for all of them. */
  isShared: boolean;
};

/** All operations of a document, in its order. */
export function operationsOf({ paths, components = {} }: OpenAPIV3.Document): ShownOperation[] {
  return Object.entries(paths).flatMap(([path, item = {}]) =>
    Object.entries(item as Record<string, OpenAPIV3.OperationObject>).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
      parameters: (operation.parameters ?? []).map((parameter) => ({
        ...resolve(components, 'parameters', parameter),
        isShared: '$ref' in parameter,
      })),
      responses: Object.entries(operation.responses).map(
        ([status, response]) => [status, resolve(components, 'responses', response)] as const,
      ),
    })),
  );
}

function resolve<Kind extends 'parameters' | 'responses'>(
  components: Components,
  kind: Kind,
  given: NonNullable<Components[Kind]>[string],
): Exclude<typeof given, OpenAPIV3.ReferenceObject> {
  const found = '$ref' in given ? components[kind]?.[nameOf(given)] : given;
  if (!found || '$ref' in found) throw new Error(`The document has no ${JSON.stringify(given)}`);
  return found as Exclude<typeof given, OpenAPIV3.ReferenceObject>;
}
