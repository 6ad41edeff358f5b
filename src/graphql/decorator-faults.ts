import { type GraphQLSchema, isObjectType } from 'graphql';
import { getMetadataStorage } from 'type-graphql';
import { hasOwnResolver } from './declared-fields';

/**
 * type-graphql ignores some decorators without an error. An access rule or a mask that is written with such a decorator would not
 * run. The schema shows no decorators, so these functions read the metadata of type-graphql.
 */

/** @throws Error that lists everything with `@Authorized`, which type-graphql ignores on classes of resolvers. */
export function rejectAuthorized(): void {
  const { authorizedFields, authorizedResolver } = getMetadataStorage();
  const names = [
    ...authorizedFields.map(({ target, fieldName }) => `${target.name}.${fieldName}`),
    ...authorizedResolver.map(({ target }) => target.name),
  ];
  if (names.length) throw new Error(`${names.join(', ')}: use @RequiresScope instead of @Authorized`);
}

/** The fields whose `@UseMiddleware` type-graphql does not run, since their class has `simpleResolvers`. */
export function middlewareFaults(schema: GraphQLSchema): string[] {
  const { objectTypes, fields } = getMetadataStorage();
  const decorated = fields.filter(({ middlewares }) => middlewares?.length);
  return objectTypes.flatMap(({ name, target, interfaceClasses = [] }) => {
    const type = schema.getType(name);
    const own = isObjectType(type) ? type.getFields() : {};
    return decorated
      .filter(
        (each) =>
          target === each.target || target.prototype instanceof each.target || interfaceClasses.includes(each.target),
      )
      .flatMap(({ schemaName }) => own[schemaName] ?? [])
      .filter((field) => !hasOwnResolver(field))
      .map((field) => `${name}.${field.name} has @UseMiddleware, which only a @FieldResolver runs`);
  });
}
