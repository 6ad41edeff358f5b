import { readFileSync } from 'node:fs';
import { type DocumentNode, type GraphQLSchema, getOperationAST, type OperationDefinitionNode, print } from 'graphql';
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
