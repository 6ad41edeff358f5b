import { type DocumentNode, GraphQLError, type OperationDefinitionNode } from 'graphql';
import { DocumentSize } from './document-size';
import { mostRepeated } from './repeats';

/** The maximum size of a document, whatever its variables. */
export interface DocumentLimits {
  /** Tokens; the parser stops beyond this. */
  readonly tokens: number;
  /** Nesting levels of selections, values and types. */
  readonly depth: number;
  /** Fields of an operation after expanding fragments. */
  readonly fields: number;
  /** Root fields among them. */
  readonly rootFields: number;
  /** Aliases of an operation after expanding fragments. */
  readonly aliases: number;
  readonly directives: number;
  readonly directivesAtOnce: number;
  readonly fragments: number;
  /** How often one place may select the same response key, after expanding fragments. */
  readonly repeats: number;
  /** Errors reported for one document, not counting the one that says there are more. */
  readonly errors: number;
}

/** An alias is repeated in every row of the response. */
const MAX_ALIAS_LENGTH = 64;

const TOO_COMPLEX = { code: 'OPERATION_TOO_COMPLEX' };
/** The extensions of a validation error. */
export const INVALID = { code: 'GRAPHQL_VALIDATION_FAILED' };

/** Why a document is too large to validate. Validation could take long; measuring does not. */
export function excessesOf(document: DocumentNode, limits: DocumentLimits): GraphQLError[] {
  const size = new DocumentSize(document);
  const excesses: GraphQLError[] = [];
  const limit = (what: string, number: number, unit: string, most: number, nodes?: OperationDefinitionNode) => {
    if (number <= most) return;
    const message = `${what} ${number} ${unit}; at most ${most} are allowed.`;
    excesses.push(new GraphQLError(message, { nodes, extensions: TOO_COMPLEX }));
  };
  for (const { node, size: operation } of size.operations) {
    limit('The operation is', operation.depth, 'levels deep', limits.depth, node);
    limit('The operation has', operation.fields, 'fields', limits.fields, node);
    limit('The operation has', operation.outer, 'root fields', limits.rootFields, node);
    limit('The operation has', operation.aliases, 'aliases', limits.aliases, node);
  }
  limit('A value is', size.valueDepth, 'levels deep', limits.depth);
  limit('A type is', size.typeDepth, 'levels deep', limits.depth);
  limit('The document has', size.fragments, 'fragments', limits.fragments);
  limit('An alias has', size.aliasLength, 'characters', MAX_ALIAS_LENGTH);
  limit('The document has', size.directives, 'directives', limits.directives);
  limit('One place has', size.directivesAtOnce, 'directives', limits.directivesAtOnce);
  if (size.circle !== undefined) {
    const message = `Cannot spread fragment "${size.circle}" within itself.`;
    excesses.push(new GraphQLError(message, { extensions: INVALID }));
  }
  // A document that passes these limits is small enough to expand.
  if (excesses.length) return excesses;
  for (const { node } of size.operations) {
    const { key, times } = mostRepeated(size.fragmentDefinitions, node);
    limit(`The operation selects "${key}"`, times, 'times in one place', limits.repeats, node);
  }
  return excesses;
}
