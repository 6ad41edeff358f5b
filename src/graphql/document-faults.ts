import { type DocumentNode, GraphQLError, type GraphQLSchema, specifiedRules, validate } from 'graphql';
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
  return errors.map(
    ({ message, nodes, extensions }) =>
      new GraphQLError(message, { nodes, extensions: { ...INVALID, ...extensions } }),
  );
}
