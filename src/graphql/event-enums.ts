import { MapperKind, mapSchema } from '@graphql-tools/utils';
import { GraphQLEnumType, type GraphQLEnumValueConfigMap, type GraphQLSchema } from 'graphql';
import { isAdminTopic, kindsOf, type Topics } from '../events/topics';
import { enumOf } from './enums';

// Placeholders for use in declarations. `withTopics` replaces their values by the topics of the domains and the kinds of these
// topics.
export const EventTopic = enumOf('EventTopic', 'The kind of object that an event of the change feed is about.', {
  ANY: '',
});
export const EventKind = enumOf('EventKind', 'What has happened to the object of an event.', { ANY: '' });

/** The name of a topic as a value of the enum. */
export function enumNameOf(topic: string): string {
  return topic.toUpperCase();
}

/** Returns a schema whose enums have the topics and the kinds of these topics. In REST, the values are in lower case. */
export function withTopics(schema: GraphQLSchema, topics: Topics): GraphQLSchema {
  const values: Readonly<Record<string, GraphQLEnumValueConfigMap>> = {
    EventTopic: Object.fromEntries(
      Object.entries(topics).map(([name, topic]) => [
        enumNameOf(name),
        {
          description: isAdminTopic(topic) ? `${topic.description} Needs the scope ADMIN.` : `\`${topic.type}\`.`,
        },
      ]),
    ),
    EventKind: Object.fromEntries(
      Object.values(topics).flatMap((topic) =>
        Object.entries(kindsOf(topic)).map(([kind, description]) => [kind, { description }]),
      ),
    ),
  };
  return mapSchema(schema, {
    [MapperKind.ENUM_TYPE]: (type) => {
      const own = values[type.name];
      const { extensions, ...config } = type.toConfig();
      return own && new GraphQLEnumType({ ...config, values: own, extensions: { ...extensions, ...IN_LOWER_CASE } });
    },
  });
}

/** The extensions of an enum whose values are in lower case in REST. */
const IN_LOWER_CASE = { isLowerCaseInRest: true };
