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
  parseType,
  print,
  Source,
  type Token,
  TokenKind,
  TypeInfo,
  type VariableDefinitionNode,
  type VariableNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Variables } from './context';

/**
 * Many clients write values into the text of a document, so each of their requests has a new document. Two documents are
 * alike if they differ only in the values of literals. From the first of several alike documents, the gateway creates a
 * document with variables in place of the literals. The gateway runs the created document in place of all later alike
 * documents. It only splits the texts of the later documents into tokens, and does not parse, validate or analyse them.
 */

/** A document with variables in place of its literals. */
interface Shape {
  readonly text: string;
  /** The type of each literal, in the order of the text. */
  readonly types: readonly GraphQLInputType[];
}

/** The query to run in place of an alike document. */
export interface Alike {
  readonly query: string;
  /** The values of the literals. */
  readonly variables: Variables;
  /** Translates the locations of errors from the text of `query` to the text of the document. */
  relocate(body: FormattedExecutionResult): FormattedExecutionResult;
}

const PREFIX = '__literal';

/** Maximum number of shapes, and of characters in a text. */
const MOST_SHAPES = 1_000;
const MOST_CHARACTERS = 10_000;

export class AlikeDocuments {
  private readonly shapes = new LRUCache<string, Shape>({ max: MOST_SHAPES });

  /** @param maxTokens maximum number of tokens that the parser accepts. */
  constructor(
    private readonly schema: GraphQLSchema,
    private readonly maxTokens: number,
  ) {}

  /** Remembers the shape of a valid document that has literals. */
  add(document: DocumentNode): void {
    const split = splitText(document.loc?.source.body ?? '');
    if (!split?.values.length || this.shapes.has(split.shape)) return;
    const lifted = liftLiterals(this.schema, document);
    if (lifted?.types.length !== split.values.length) return;
    // Each literal adds a variable definition, which may make the document too long for the parser.
    if ([...tokensOf(lifted.text)].length < this.maxTokens) this.shapes.set(split.shape, lifted);
  }

  /**
   * Finds a known document of the same shape.
   * @returns `undefined` if there is no such document, or if a literal has the wrong type.
   */
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
    return { query: shape.text, variables: values, relocate: (body) => relocate(body, shape.text, text) };
  }
}

/**
 * Separates the literals of a text from its other tokens.
 * @returns `undefined` if the text has invalid tokens, is too long, or has variables with the reserved prefix.
 */
function splitText(text: string): { shape: string; values: Token[] } | undefined {
  if (text.length > MOST_CHARACTERS || text.includes(`$${PREFIX}`)) return undefined;
  const values: Token[] = [];
  let shape = '';
  try {
    for (const token of tokensOf(text)) {
      const isLiteral = LITERALS.has(token.kind);
      if (isLiteral) values.push(token);
      // The mark `#` cannot be confused with a name, since no name begins with it.
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

/** Replaces the literals of a valid document by variables. @returns `undefined` if a literal cannot be replaced. */
function liftLiterals(schema: GraphQLSchema, document: DocumentNode): Shape | undefined {
  const [operation, ...others] = document.definitions;
  // Accepts a single operation that is followed only by fragments. Several operations could share the literals of a
  // fragment. With fragments before the operation, it would be hard to map the `locations` of errors to the client's text.
  if (operation?.kind !== Kind.OPERATION_DEFINITION || others.some((each) => each.kind !== Kind.FRAGMENT_DEFINITION))
    return undefined;
  const types: GraphQLInputType[] = [];
  let isLifted = true;
  const typeInfo = new TypeInfo(schema);
  const replace = (): VariableNode | undefined => {
    const type = typeInfo.getInputType();
    if (!type || !isScalarType(getNamedType(type))) {
      isLifted = false;
      return undefined;
    }
    const name = PREFIX + types.length;
    types.push(type);
    return { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: name } };
  };
  const lifted: DocumentNode = visit(
    document,
    visitWithTypeInfo(typeInfo, {
      IntValue: replace,
      FloatValue: replace,
      StringValue: replace,
      // The default value of a variable must not contain variables.
      VariableDefinition: ({ defaultValue }) => {
        if (defaultValue) isLifted = false;
        return false;
      },
      // The estimated cost of introspection depends on its literals.
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
    if (each.kind !== Kind.OPERATION_DEFINITION) return each;
    return { ...each, variableDefinitions: [...(each.variableDefinitions ?? []), ...added] };
  });
  return { text: print({ ...lifted, definitions }), types };
}

/**
 * Converts a literal to the value of a variable. Identifiers become strings, since JSON numbers are not exact beyond 2^53.
 */
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

/**
 * Translates the locations of errors from the text `from` to the text `to`. After the variable definitions, both texts have
 * the same tokens, except that `from` has a variable in place of each literal.
 */
function relocate(body: FormattedExecutionResult, from: string, to: string): FormattedExecutionResult {
  if (!body.errors?.some(({ locations }) => locations)) return body;
  const there = valuesAsOne(to);
  const here = valuesAsOne(from);
  const offset = there.length - here.length;
  const places = new Map(here.map(({ line, column }, index) => [`${line}:${column}`, there[index + offset]]));
  const errors = body.errors.map((error) => {
    const locations = error.locations?.map((place) => {
      const { line, column } = places.get(`${place.line}:${place.column}`) ?? place;
      return { line, column };
    });
    return locations ? { ...error, locations } : error;
  });
  return { ...body, errors };
}

/**
 * The tokens of a text, without the names of variables. So `$name` counts as one token, like the literal that the variable
 * replaces.
 */
function valuesAsOne(text: string): Token[] {
  return [...tokensOf(text)].filter(({ prev }) => prev?.kind !== TokenKind.DOLLAR);
}
