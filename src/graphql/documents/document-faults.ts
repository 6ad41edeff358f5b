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
 * Why a parsed document may not run; empty if it may.
 * @param hideSuggestions whether to omit "Did you mean" suggestions of schema names.
 */
export function faultsOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  limits: DocumentLimits,
  hideSuggestions: boolean,
): readonly GraphQLError[] {
  const excesses = excessesOf(document, limits);
  if (excesses.length) return excesses.slice(0, limits.errors);
  const errors = validate(schema, document, specifiedRules, { maxErrors: limits.errors, hideSuggestions });
  return errors.map(({ message, nodes, extensions }) => {
    // Literals that a scalar rejects are reported like variables: with the path of the argument.
    const path = extensions.code === 'BAD_USER_INPUT' && pathTo(nodes?.[0], document);
    const details = path ? { details: [{ path, message }] } : undefined;
    return new GraphQLError(message, { nodes, extensions: { ...INVALID, ...extensions, ...details } });
  });
}

/** The path of a literal from its argument: `filter.ids.1`. */
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
