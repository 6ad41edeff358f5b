import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  specifiedRules,
  validate,
  visit,
} from 'graphql';
import { type DocumentLimits, excessesOf, INVALID } from './document-limits';

/**
 * Why a parsed document may not run; nothing where it may.
 * @param hideSuggestions whether names of the schema that resemble a wrong one are kept back.
 */
export function faultsOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  limits: DocumentLimits,
  hideSuggestions: boolean,
): readonly GraphQLError[] {
  const excesses = excessesOf(document, limits);
  if (excesses.length) return excesses.slice(0, limits.errors);
  const errors = validate(schema, document, specifiedRules, {
    maxErrors: limits.errors,
    hideSuggestions,
  });
  return errors.map(({ message, nodes, extensions }) => {
    // What a scalar refuses is told of as in variables: by the argument that it stands in.
    const path = extensions.code === 'BAD_USER_INPUT' && pathTo(nodes?.[0], document);
    const details = path ? { details: [{ path, message }] } : undefined;
    return new GraphQLError(message, { nodes, extensions: { ...INVALID, ...extensions, ...details } });
  });
}

/** The argument, and what of it, that a literal is: `filter.ids.1`. */
function pathTo(literal: ASTNode | undefined, document: DocumentNode): string {
  const path: (string | number)[] = [];
  visit(document, {
    enter(node, key, parent, _path, ancestors) {
      if (node !== literal || !parent) return undefined;
      for (const each of [...ancestors, parent])
        if ('kind' in each && (each.kind === Kind.ARGUMENT || each.kind === Kind.OBJECT_FIELD))
          path.push(each.name.value);
      if (typeof key === 'number') path.push(key);
      return BREAK;
    },
  });
  return path.join('.');
}
