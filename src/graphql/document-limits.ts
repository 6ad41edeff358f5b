import { type DocumentNode, GraphQLError, type OperationDefinitionNode } from 'graphql';
import { DocumentSize } from './document-size';
import { mostRepeated } from './repeats';

/** What a document may come to at most, whatever its variables. */
export interface DocumentLimits {
  /** Tokens; the parser stops at the next. */
  readonly tokens: number;
  /** How deep selections, values and types may stand within each other. */
  readonly depth: number;
  /** Fields of an operation once its fragments are spread. */
  readonly fields: number;
  /** Those of them that stand at its root. */
  readonly rootFields: number;
  readonly aliases: number;
  readonly directives: number;
  readonly directivesAtOnce: number;
  readonly fragments: number;
  /** How often one place may ask for the same, from all fragments that are spread there. */
  readonly repeats: number;
  /** How many errors are told of one document, beside that there are more. */
  readonly errors: number;
}

const TOO_COMPLEX = { code: 'OPERATION_TOO_COMPLEX' };
/** The extensions of a fault of a document. */
export const INVALID = { code: 'GRAPHQL_VALIDATION_FAILED' };

/** Why a document is too large to be looked at any further: to validate it could take long, to measure it does not. */
export function excessesOf(document: DocumentNode, limits: DocumentLimits): GraphQLError[] {
  const size = new DocumentSize(document);
  const excesses: GraphQLError[] = [];
  const limit = (
    what: string,
    number: number,
    unit: string,
    most: number,
    nodes?: OperationDefinitionNode,
  ) => {
    if (number <= most) return;
    const message = `${what} ${number} ${unit}; at most ${most} are allowed.`;
    excesses.push(new GraphQLError(message, { nodes, extensions: TOO_COMPLEX }));
  };
  for (const { node, size: operation } of size.operations) {
    limit('The operation is', operation.depth, 'levels deep', limits.depth, node);
    limit('The operation comes to', operation.fields, 'fields', limits.fields, node);
    limit('The operation comes to', operation.outer, 'root fields', limits.rootFields, node);
  }
  limit('A value is', size.valueDepth, 'levels deep', limits.depth);
  limit('A type is', size.typeDepth, 'levels deep', limits.depth);
  limit('The document has', size.fragments, 'fragments', limits.fragments);
  limit('The document has', size.aliases, 'aliases', limits.aliases);
  limit('The document has', size.directives, 'directives', limits.directives);
  limit('One place has', size.directivesAtOnce, 'directives', limits.directivesAtOnce);
  if (size.circle !== undefined) {
    const message = `Cannot spread fragment "${size.circle}" within itself.`;
    excesses.push(new GraphQLError(message, { extensions: INVALID }));
  }
  // What has passed so far is small enough to be spread out.
  if (excesses.length) return excesses;
  for (const { node } of size.operations) {
    const { key, times } = mostRepeated(size.fragmentDefinitions, node);
    limit(`The operation asks for "${key}"`, times, 'times in one place', limits.repeats, node);
  }
  return excesses;
}
