import {
  type DefinitionNode,
  type DocumentNode,
  type FormattedExecutionResult,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isScalarType,
  Kind,
  Lexer,
  type OperationDefinitionNode,
  parseType,
  Source,
  type Token,
  TokenKind,
  TypeInfo,
  type ValueNode,
  type VariableDefinitionNode,
  type VariableNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Variables } from './context';

/**
 * Documents that differ only in values, as programs write them that put values into the text. The first is validated and
 * analysed, with a variable in place of each literal. All others are only split into tokens, and run as that document
 * with their values.
 */

/** A document with variables in place of its literals, under the tokens that it shares with others. */
interface Shape {
  readonly document: DocumentNode;
  /** The text that it was made of. */
  readonly text: string;
  /** The type of each literal, in the order of the text. */
  readonly types: readonly GraphQLInputType[];
}

/** A document that is known but for its values. */
export interface Alike {
  readonly document: DocumentNode;
  readonly values: Variables;
  /** Moves the locations of errors from the document's own text to this one. */
  relocate(body: FormattedExecutionResult): FormattedExecutionResult;
}

const PREFIX = '__literal';

/** Maximum number of shapes, and of characters of the text of each. */
const MOST_SHAPES = 1_000;
const MOST_CHARACTERS = 10_000;

export class AlikeDocuments {
  private readonly shapes = new LRUCache<string, Shape>({ max: MOST_SHAPES });

  constructor(private readonly schema: GraphQLSchema) {}

  /** Remembers a valid document, if others can differ from it in values. */
  add(text: string, document: DocumentNode): void {
    const split = splitText(text);
    if (!split?.values.length || this.shapes.has(split.shape)) return;
    const lifted = liftLiterals(this.schema, document);
    if (lifted && lifted.types.length === split.values.length) this.shapes.set(split.shape, { ...lifted, text });
  }

  /** @returns `undefined` if no document of this shape is known, or a value does not fit its type. */
  find(text: string): Alike | undefined {
    const split = splitText(text);
    const shape = split && this.shapes.get(split.shape);
    if (!shape) return undefined;
    const values: Record<string, unknown> = {};
    for (const [index, type] of shape.types.entries()) {
      const value = literalValue(split.values[index] as Token, type);
      if (!isFitting(value, type)) return undefined;
      values[PREFIX + index] = value;
    }
    return { document: shape.document, values, relocate: (body) => relocate(body, shape.text, text) };
  }
}

/** The tokens of a text but for its literals, and these; `undefined` if it cannot be split, or is very long. */
function splitText(text: string): { shape: string; values: Token[] } | undefined {
  if (text.length > MOST_CHARACTERS || text.includes(`$${PREFIX}`)) return undefined;
  const values: Token[] = [];
  let shape = '';
  try {
    for (const token of tokensOf(text)) {
      const isLiteral = LITERALS.has(token.kind);
      if (isLiteral) values.push(token);
      // No name begins with `#`.
      shape += isLiteral ? `#${token.kind} ` : `${token.value ?? token.kind} `;
    }
  } catch {
    return undefined;
  }
  return { shape, values };
}

const LITERALS: ReadonlySet<TokenKind> = new Set([
  TokenKind.INT,
  TokenKind.FLOAT,
  TokenKind.STRING,
  TokenKind.BLOCK_STRING,
]);

function* tokensOf(text: string): Generator<Token> {
  const lexer = new Lexer(new Source(text));
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) yield token;
}

/** Replaces the literals of a valid document by variables; `undefined` if one has to stay. */
function liftLiterals(schema: GraphQLSchema, document: DocumentNode): Pick<Shape, 'document' | 'types'> | undefined {
  const operations = document.definitions.filter((each): each is OperationDefinitionNode => 'operation' in each);
  // Fragments may share literals between operations, and introspection is estimated by its literals.
  if (operations.length !== 1) return undefined;
  const types: GraphQLInputType[] = [];
  let isLifted = true;
  const typeInfo = new TypeInfo(schema);
  const replace = (node: ValueNode): VariableNode | undefined => {
    const type = typeInfo.getInputType();
    if (!type || !isScalarType(getNamedType(type))) {
      isLifted = false;
      return undefined;
    }
    const name = PREFIX + types.length;
    types.push(type);
    return { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: name }, loc: node.loc };
  };
  const lifted: DocumentNode = visit(
    document,
    visitWithTypeInfo(typeInfo, {
      IntValue: replace,
      FloatValue: replace,
      StringValue: replace,
      // Defaults cannot be variables.
      VariableDefinition: ({ defaultValue }) => {
        if (defaultValue) isLifted = false;
        return false;
      },
      Field: ({ name }) => {
        if (name.value === '__type' || name.value === '__schema') isLifted = false;
      },
    }),
  );
  if (!isLifted) return undefined;
  const added = types.map((type, index): VariableDefinitionNode => {
    const name = { kind: Kind.NAME, value: PREFIX + index } as const;
    const variable = { kind: Kind.VARIABLE, name } as const;
    return { kind: Kind.VARIABLE_DEFINITION, variable, type: parseType(String(type)) };
  });
  const definitions = lifted.definitions.map((each): DefinitionNode => {
    if (!('operation' in each) || each.kind !== Kind.OPERATION_DEFINITION) return each;
    return { ...each, variableDefinitions: [...(each.variableDefinitions ?? []), ...added] };
  });
  return { document: { ...lifted, definitions }, types };
}

/** The value of a literal as a variable. Identifiers stay texts, since they may be larger than JSON's exact numbers. */
function literalValue({ kind, value = '' }: Token, type: GraphQLInputType): unknown {
  const isNumber = kind === TokenKind.INT || kind === TokenKind.FLOAT;
  return isNumber && getNamedType(type).name !== 'ID' ? Number(value) : value;
}

function isFitting(value: unknown, type: GraphQLInputType): boolean {
  const scalar = getNamedType(type);
  try {
    return isScalarType(scalar) && scalar.parseValue(value) !== undefined;
  } catch {
    return false;
  }
}

/** Errors name places in the text that a document was made of: these are the same tokens in another text. */
function relocate(body: FormattedExecutionResult, from: string, to: string): FormattedExecutionResult {
  if (!body.errors?.some(({ locations }) => locations)) return body;
  const there = [...tokensOf(to)];
  const places = new Map(Array.from(tokensOf(from), ({ line, column }, index) => [`${line}:${column}`, there[index]]));
  const errors = body.errors.map((error) => {
    const locations = error.locations?.map((place) => {
      const { line, column } = places.get(`${place.line}:${place.column}`) ?? place;
      return { line, column };
    });
    return locations ? { ...error, locations } : error;
  });
  return { ...body, errors };
}
