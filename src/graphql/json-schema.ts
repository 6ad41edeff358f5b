import type { GraphQLNamedType } from 'graphql';
import { Extensions } from 'type-graphql';
import type { Element } from '../errors/inputs';

/** What the OpenAPI document says of a field beyond its type and its rule. */
export interface FieldKeywords {
  readonly example?: unknown;
  readonly enum?: string[];
  readonly format?: 'date';
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** What the OpenAPI document says of a type beyond its fields. */
export interface TypeKeywords {
  readonly example?: Readonly<Record<string, unknown>>;
  /** The required fields of a payload, where the specification asks for fewer than are always there. */
  readonly required?: readonly string[];
}

/** Describes a type or a field in keywords of JSON Schema. */
export const JsonSchema = (keywords: FieldKeywords | TypeKeywords) => Extensions({ jsonSchema: keywords });

export function keywordsOfField({ extensions }: Element): FieldKeywords {
  return (extensions.jsonSchema as FieldKeywords | undefined) ?? {};
}

export function keywordsOfType({ extensions }: GraphQLNamedType): TypeKeywords {
  return (extensions.jsonSchema as TypeKeywords | undefined) ?? {};
}
