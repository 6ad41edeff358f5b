import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
  print,
} from 'graphql';
import type { Variables } from './context';
import { type CostLimits, refuseCost } from './cost';
import { faultsOf } from './document-faults';
import type { DocumentLimits } from './document-limits';
import { Operation } from './operation';

/** An operation in a manifest, as `@apollo/generate-persisted-query-manifest` writes it. */
interface Listed {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly body: string;
}

/** What documents must conform to. */
interface Bounds {
  readonly schema: GraphQLSchema;
  readonly limits: DocumentLimits;
  readonly costs: CostLimits;
}

/** The documents of an Apollo persisted query manifest, known before any client sends them. */
export class TrustedDocuments {
  readonly documents = new Map<string, DocumentNode>();
  private readonly texts = new Map<string, string>();
  private readonly layouts = new Set<string>();

  /**
   * Reads and validates a manifest.
   * @throws Error, in one line, if it cannot be read or names an operation that could not run.
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
      this.documents.set(body, document);
      this.layouts.add(withoutLayout(document));
    }
    // Document identifiers of GraphQL over HTTP (draft).
    for (const { body } of operations)
      this.texts.set(`sha256:${createHash('sha256').update(body).digest('hex')}`, body);
  }

  /** The text of a document by its id: the manifest's, or `sha256:` and the hash of the text. */
  textOf(id: string): string | undefined {
    return this.texts.get(id);
  }

  /** Whether a document is in the manifest, ignoring white space, comments and the order of definitions. */
  lists(document: DocumentNode): boolean {
    return this.layouts.has(withoutLayout(document));
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
  const refuse = (reason: string) => new Error(`${type} ${name} (${id}): ${reason}`);
  let document: DocumentNode;
  try {
    document = parse(body, { maxTokens: limits.tokens });
  } catch (error) {
    throw refuse((error as Error).message);
  }
  const [fault] = faultsOf(schema, document, limits);
  if (fault) throw refuse(fault.message);
  const operation = getOperationAST(document);
  if (operation?.name?.value !== name || operation.operation !== type)
    throw refuse('its body is not a single operation of this type and name');
  const listed = new Operation(schema, document, operation);
  const variant = listed.variant(undefined);
  const problem = variant && refuseCost(listed, variant, leastVariables(operation), costs);
  if (problem) throw refuse(problem.message);
  return document;
}

/** Variables that ask for the shortest pages. */
function leastVariables({ variableDefinitions = [] }: OperationDefinitionNode): Variables {
  return Object.fromEntries(variableDefinitions.map(({ variable }) => [variable.name.value, 0]));
}

function withoutLayout({ definitions }: DocumentNode): string {
  return definitions.map(print).sort().join('\n');
}
