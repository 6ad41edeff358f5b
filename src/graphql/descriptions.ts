import { MapperKind, mapSchema } from '@graphql-tools/utils';
import { GraphQLObjectType, GraphQLSchema } from 'graphql';
import { annotationsOf } from './annotations';
import { requiredScope } from './directives';
import { errorsOf } from './errors-directive';

const SCHEMA = `A pet store: pets in categories, orders for them, and their stock.

An \`id\` is a positive 64-bit integer, written as a string; API keys have key ids. Fields with \`@rateLimit\` count as one request
each, those with \`@requiresScope\` need an API key with that scope, and \`@errors\` names the errors that are a field's own; the
descriptions repeat all three. An error has its \`ErrorCode\` in \`extensions.code\`, its HTTP status in \`extensions.status\`, and in
\`extensions.details\` what is wrong where. Lists are connections (Relay): pages between opaque cursors. \`/docs\` has guides.`;

const ROOTS: Readonly<Record<string, string>> = {
  Query: 'What can be read. One thing that does not exist is null, without an error.',
  Mutation:
    'What can be changed. Several fields run one after another, and one that fails does not stop the others: it is null, with an error at its path.',
  Subscription: 'What can be followed live, over WebSocket or as an event stream. Counts once, when it starts.',
};

interface Described {
  readonly description?: string | null;
}

/**
 * Describes the schema and its root types, and ends the descriptions of what has directives with a paragraph that says
 * the same: introspection shows no directives (GraphQL, section 4).
 */
export function describeDirectives(schema: GraphQLSchema): GraphQLSchema {
  const annotations = annotationsOf(schema);
  const describe = <Config extends Described>(config: Config, element: unknown, ...facts: (string | undefined)[]) => {
    const stability = annotations.get(element)?.stability;
    const paragraph = [...facts, stability && `Stability: ${stability}.`].filter(Boolean).join(' ');
    return paragraph ? { ...config, description: `${config.description}\n\n${paragraph}` } : config;
  };
  const fieldsOf = (typeName: string) => {
    const type = schema.getType(typeName);
    return type && 'getFields' in type ? type.getFields() : {};
  };
  const described = mapSchema(schema, {
    [MapperKind.ROOT_OBJECT]: (type) =>
      new GraphQLObjectType({ ...type.toConfig(), description: ROOTS[type.name] ?? type.description }),
    [MapperKind.ROOT_FIELD]: (config, name, typeName) => {
      const field = fieldsOf(typeName)[name];
      const scope = requiredScope(config);
      const errors = errorsOf(config).join(', ');
      return describe(config, field, scope && `Scope: ${scope}.`, errors && `Errors: ${errors}.`);
    },
    [MapperKind.INPUT_OBJECT_FIELD]: (config, name, typeName) => describe(config, fieldsOf(typeName)[name]),
  });
  return new GraphQLSchema({ ...described.toConfig(), description: SCHEMA });
}

/** A description without what {@link describeDirectives} adds. */
export function ownDescription({ description }: Described): string {
  return String(description).split('\n\n')[0] ?? '';
}
