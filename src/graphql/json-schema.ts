import type { GraphQLNamedType } from 'graphql';
import { Extensions } from 'type-graphql';
import type { Element } from '../errors/input-checks';

/** Keywords of a field in the OpenAPI document, in addition to its type and its rule. */
interface FieldKeywords {
  readonly example?: unknown;
  readonly enum?: string[];
  readonly format?: 'date';
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Keywords of a type in the OpenAPI document, in addition to its fields. */
interface TypeKeywords {
  readonly example?: Readonly<Record<string, unknown>>;
  /**
   * The fields that docs/specification.md requires in a response. Set only if the gateway always sends more fields.
   */
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
