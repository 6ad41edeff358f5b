import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  specifiedRules,
  validate,
  visit,
} from 'graphql';
import { argumentPath } from '../errors/inputs';
import { type DocumentLimits, excessesOf, INVALID } from './document-limits';

/** Why a parsed document may not run; empty if it may. */
export function faultsOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  limits: DocumentLimits,
): readonly GraphQLError[] {
  const excesses = excessesOf(document, limits);
  if (excesses.length) return excesses.slice(0, limits.errors);
  const errors = validate(schema, document, specifiedRules, { maxErrors: limits.errors });
  return errors.map(({ message, nodes, extensions }) => {
    // Literals that a scalar rejects are reported like variables: with the path of the argument.
    const path = extensions.code === 'BAD_USER_INPUT' && pathTo(nodes?.[0], document);
    const details = path ? { details: [{ path, message }] } : undefined;
    return new GraphQLError(message, { nodes, extensions: { ...INVALID, ...extensions, ...details } });
  });
}

/** @see argumentPath */
function pathTo(literal: ASTNode | undefined, document: DocumentNode): string {
  let path = '';
  visit(document, {
    enter(node, key, parent, _path, ancestors) {
      if (node !== literal || !parent) return undefined;
      path = argumentPath(key, [...ancestors, parent]);
      return BREAK;
    },
  });
  return path;
}
