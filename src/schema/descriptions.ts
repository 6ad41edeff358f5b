import { MapperKind, mapSchema } from '@graphql-tools/utils';
import type { GraphQLSchema } from 'graphql';
import { errorsOf } from '../errors/errors-directive';
import { annotationsOf } from '../graphql/annotations/annotations';
import { requiredScope } from '../graphql/directives/directives';

interface Described {
  readonly description?: string | null;
}

/**
 * Ends the descriptions of what has directives with a paragraph that says the same: introspection shows no directives
 * (GraphQL, section 4).
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
  return mapSchema(schema, {
    [MapperKind.ROOT_FIELD]: (config, name, typeName) => {
      const field = fieldsOf(typeName)[name];
      const scope = requiredScope(config);
      const errors = errorsOf(config).join(', ');
      return describe(config, field, scope && `Scope: ${scope}.`, errors && `Errors: ${errors}.`);
    },
    [MapperKind.INPUT_OBJECT_FIELD]: (config, name, typeName) => describe(config, fieldsOf(typeName)[name]),
  });
}

/** A description without what {@link describeDirectives} adds. */
export function ownDescription({ description }: Described): string {
  return String(description).split('\n\n')[0] ?? '';
}
