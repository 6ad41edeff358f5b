import { readFileSync } from 'node:fs';
import { type DocumentNode, type GraphQLSchema, getOperationAST, type OperationDefinitionNode, print } from 'graphql';
import { ProblemError } from '../errors/errors';
import type { CoercedVariables } from './context';
import { type CostLimits, requireCost } from './cost';
import { type DocumentLimits, Documents, hashOf, type TrustedList } from './documents';
import { Operation } from './operation';

/** An operation in a manifest, as `@apollo/generate-persisted-query-manifest` writes it. */
interface Listed {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly body: string;
}

/** The schema and the limits that documents must conform to. */
interface Bounds {
  readonly schema: GraphQLSchema;
  readonly limits: DocumentLimits;
  readonly costs: CostLimits;
}

/** The documents of an Apollo persisted query manifest, known before any client sends them. */
export class TrustedDocuments implements TrustedList {
  /** The documents by the SHA-256 of their text. */
  private readonly documents = new Map<string, DocumentNode>();
  /** The texts by document id. */
  private readonly texts = new Map<string, string>();
  private readonly layouts = new Set<string>();
  private readonly listed = new WeakMap<DocumentNode, boolean>();

  /**
   * Reads and validates a manifest.
   * @throws Error with a one-line message, if the manifest is unreadable or has an operation that cannot run.
   */
  static read(path: string, bounds: Bounds): TrustedDocuments {
    try {
      return new TrustedDocuments(operationsOf(readFileSync(path, 'utf8')), bounds);
    } catch (error) {
      const reason = (error as Error).message.replace(/\s+/g, ' ');
      throw new Error(`TRUSTED_DOCUMENTS ${path}: ${reason}`);
    }
  }

  private constructor(operations: readonly Listed[], bounds: Bounds) {
    for (const operation of operations) {
      const { id, body } = operation;
      const document = checked(operation, bounds);
      if (this.texts.has(id)) throw new Error(`the id ${id} appears twice`);
      this.texts.set(id, body);
      this.documents.set(hashOf(body), document);
      this.layouts.add(withoutLayout(document));
    }
    // GraphQL over HTTP (draft) identifies a document by the prefix `sha256:` and the hash of its text.
    for (const { body } of operations) this.texts.set(`sha256:${hashOf(body)}`, body);
  }

  find(hash: string): DocumentNode | undefined {
    return this.documents.get(hash);
  }

  textOf(id: string): string | undefined {
    return this.texts.get(id);
  }

  lists(document: DocumentNode): boolean {
    let isListed = this.listed.get(document);
    if (isListed === undefined) {
      isListed = this.layouts.has(withoutLayout(document));
      this.listed.set(document, isListed);
    }
    return isListed;
  }
}

function operationsOf(text: string): readonly Listed[] {
  const manifest = JSON.parse(text) as { format?: unknown; version?: unknown; operations?: unknown } | null;
  if (manifest?.format !== 'apollo-persisted-query-manifest' || manifest.version !== 1)
    throw new Error('is not a manifest of the format apollo-persisted-query-manifest, version 1');
  const { operations } = manifest;
  if (!Array.isArray(operations)) throw new Error('has no list of operations');
  operations.forEach((operation, index) => {
    for (const name of ['id', 'name', 'type', 'body']) {
      if (typeof operation?.[name] !== 'string') throw new Error(`operations[${index}].${name} is not a string`);
    }
  });
  return operations;
}

function checked({ id, name, type, body }: Listed, { schema, limits, costs }: Bounds): DocumentNode {
  const invalid = (reason: string) => new Error(`${type} ${name} (${id}): ${reason}`);
  const document = new Documents(schema, limits).read(body);
  if (!('kind' in document)) throw invalid(String(document[0]?.message));
  const operation = getOperationAST(document);
  if (operation?.name?.value !== name || operation.operation !== type)
    throw invalid('its body is not a single operation of this type and name');
  const listed = new Operation(schema, document, operation);
  const analysis = listed.analysisFor(undefined);
  try {
    if (analysis) requireCost(listed, analysis, leastVariables(operation), costs);
  } catch (problem) {
    throw invalid((problem as Error).message);
  }
  return document;
}

/** Variables with the value 0. They request the shortest pages, for which the estimated cost is lowest. */
function leastVariables({ variableDefinitions = [] }: OperationDefinitionNode): CoercedVariables {
  return Object.fromEntries(variableDefinitions.map(({ variable }) => [variable.name.value, 0])) as CoercedVariables;
}

function withoutLayout({ definitions }: DocumentNode): string {
  return definitions.map(print).sort().join('\n');
}

/** The parameters of a request: `query`, `variables` and so on. */
type Parameters = Readonly<Record<string, unknown>>;

/**
 * Replaces the id of a trusted document in a request's parameters with the document's text. The id is `documentId` (GraphQL
 * over HTTP, draft) or `extensions.persistedQuery.sha256Hash` (Apollo). Requests without an id, and automatic persisted
 * queries, are returned unchanged, but without an empty `query` or `operationName`. Null counts as absent.
 * @param given the parameters. Only the two ids are checked here.
 * @throws ProblemError `PERSISTED_QUERY_NOT_IN_LIST`, `BAD_REQUEST`.
 */
export function withText(given: Parameters, documents: Documents): Parameters {
  if (given.operationName === '') {
    const { operationName: _, ...unnamed } = given;
    return withText(unnamed, documents);
  }
  const documentId = given.documentId ?? undefined;
  if (documentId === undefined && given.extensions === undefined) return given;
  const { documentId: _, extensions, query, ...rest } = given;
  const hash = hashIn(extensions);
  const hasText = query !== undefined && query !== null && query !== '';
  // If a hash is sent together with the text, Apollo Server checks the hash and stores the text.
  if (documentId === undefined && (hash === undefined || hasText)) return given;
  const isAlone = documentId === undefined || (hash === undefined && !hasText);
  const id = documentId ?? hash;
  if (!isAlone || typeof id !== 'string')
    throw malformed('documentId must be a string, and must not be sent together with query');
  const text = documents.trusted?.textOf(id);
  if (text !== undefined) return { ...rest, query: text };
  // Drops an empty query, since Apollo Server would compare it with the hash.
  if (documentId === undefined && !documents.onlyTrusted) return { ...rest, extensions };
  throw new ProblemError('PERSISTED_QUERY_NOT_IN_LIST', `No document with the id "${id}" is known here.`);
}

function malformed(message: string): ProblemError {
  return new ProblemError('BAD_REQUEST', `The request is malformed: ${message}.`);
}

/** @throws ProblemError `BAD_REQUEST`. */
function hashIn(extensions: unknown): string | undefined {
  const hash = (extensions as ApolloExtensions | null | undefined)?.persistedQuery?.sha256Hash;
  if (hash === undefined || hash === null) return undefined;
  // Apollo would throw on a value that cannot be converted to a string.
  if (typeof hash !== 'string') throw malformed('sha256Hash must be a string');
  return hash;
}

interface ApolloExtensions {
  readonly persistedQuery?: { readonly sha256Hash?: unknown } | null;
}
