import { type GraphQLNamedType, type GraphQLSchema, isEnumType } from 'graphql';
import { type Found, listed } from './found';

/** What the search finds in `/docs/graphql`: operations with their arguments, and types with their members. */
export function graphqlPlaces(schema: GraphQLSchema): Found[] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap(
    (type) => type ?? [],
  );
  const place = (title: string, within: string, text: string, id: string): Found => ({
    kind: 'GraphQL',
    title,
    within,
    text,
    href: `/docs/graphql#${id}`,
  });
  const fields = roots.flatMap((root) =>
    Object.values(root.getFields()).map(({ name, description, args }) =>
      place(name, root.name, `${description} ${listed('Arguments', namesOf(args))}`, `${root.name}.${name}`),
    ),
  );
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => !type.name.startsWith('__') && !roots.some((root) => root === type),
  );
  return [
    ...fields,
    ...types.map((type) => place(type.name, '', `${type.description ?? ''} ${membersOf(type)}`, type.name)),
  ];
}

function membersOf(type: GraphQLNamedType): string {
  if (isEnumType(type)) return listed('Values', namesOf(type.getValues()));
  return 'getFields' in type ? listed('Fields', Object.keys(type.getFields())) : '';
}

function namesOf(elements: readonly { readonly name: string }[]): string[] {
  return elements.map(({ name }) => name);
}
