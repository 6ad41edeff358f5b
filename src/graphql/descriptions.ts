import { MapperKind, mapSchema } from '@graphql-tools/utils';
import { GraphQLObjectType, GraphQLSchema } from 'graphql';
import { withBounds } from './bounds';
import { errorsOf, type Marked, requiredScope, stabilityOf } from './directives';

const ROOTS: Readonly<Record<string, string>> = {
  Query: 'All reads. A field for a single object is null, without an error, if the object does not exist.',
  Mutation:
    'All changes. The fields of an operation run one after another. A field that fails is null, with an error at its path, and does not stop the other fields.',
  Subscription:
    'Live events, over WebSocket or as an event stream. The start of a subscription counts as one request. Events use no quota.',
};

interface Described extends Marked {
  readonly description?: string | null;
  readonly extensions?: Readonly<Record<string, unknown>> | null;
}

/**
 * Describes the schema and its root types. Introspection does not show directives (GraphQL, section 4). The description of
 * a root field or an input field therefore ends with a paragraph about its scope, errors and stability, if it has any.
 */
export function describeSchema(schema: GraphQLSchema, description: string): GraphQLSchema {
  const describe = <Config extends Described>(config: Config, ...facts: (string | undefined)[]) => {
    const stability = stabilityOf(config);
    const paragraph = [...facts, stability && `Stability: ${stability}.`].filter(Boolean).join(' ');
    const description = withBounds(String(config.description), config.extensions ?? {});
    return { ...config, description: paragraph ? `${description}\n\n${paragraph}` : description };
  };
  const described = mapSchema(schema, {
    [MapperKind.ROOT_OBJECT]: (type) =>
      new GraphQLObjectType({ ...type.toConfig(), description: ROOTS[type.name] ?? type.description }),
    [MapperKind.ROOT_FIELD]: (config) => {
      const scope = requiredScope(config);
      const errors = errorsOf(config).join(', ');
      return describe(config, scope && `Scope: ${scope}.`, errors && `Errors: ${errors}.`);
    },
    [MapperKind.INPUT_OBJECT_FIELD]: (config) => describe(config),
    [MapperKind.OBJECT_FIELD]: (config) => describe(config),
    [MapperKind.ARGUMENT]: (config) => describe(config),
  });
  return new GraphQLSchema({ ...described.toConfig(), description });
}

/** The first paragraph of a description, without the paragraph that {@link describeSchema} adds. */
export function ownDescription({ description }: Pick<Described, 'description'>): string {
  return String(description).split('\n\n')[0] ?? '';
}
