import type { GraphQLArgument, GraphQLField, GraphQLInputField, GraphQLNamedType } from 'graphql';
import { Extensions } from 'type-graphql';
import type { Rule, Rules as RulesOf } from '../domain/rules';

type Field = GraphQLField<unknown, unknown> | GraphQLInputField | GraphQLArgument;

/** What the OpenAPI document says of a type or a field beyond its GraphQL type and its rule. */
export interface Keywords {
  readonly example?: unknown;
  readonly enum?: readonly string[];
  readonly minItems?: number;
  readonly maxItems?: number;
  /** The required fields of a payload, where the specification asks for fewer than are always there. */
  readonly required?: readonly string[];
}

/** Describes a type or a field in keywords of JSON Schema. */
export const JsonSchema = (keywords: Keywords) => Extensions({ jsonSchema: keywords });

/** Gives the fields of a type the domain's rules for them. */
export function Rules<Name extends string>(rules: RulesOf<Record<Name, unknown>>) {
  return ({ prototype }: abstract new () => { [field in Name]?: unknown }): void => {
    for (const [field, rule] of Object.entries(rules)) Extensions({ rule })(prototype, field);
  };
}

export function keywordsOf({ extensions }: Field | GraphQLNamedType): Keywords {
  return (extensions.jsonSchema as Keywords | undefined) ?? {};
}

/** The rule of a field; empty if it has none. */
export function ruleOf({ extensions }: Field): Rule {
  return (extensions.rule as Rule | undefined) ?? {};
}
