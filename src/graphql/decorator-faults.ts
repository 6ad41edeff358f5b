import { type GraphQLSchema, isEnumType, isInputObjectType, isInterfaceType, isObjectType } from 'graphql';
import { getMetadataStorage } from 'type-graphql';
import { hasOwnResolver } from './declared-fields';
import { requiredScope } from './directives';

/**
 * Some decorators have no effect in some places. An access rule or a mask that is written there would not run, so the start fails.
 * The schema shows only decorators that add a directive, such as `@RequiresScope`. The others are in the metadata of type-graphql.
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

/**
 * The elements whose `@RequiresScope` would not be checked. Only fields of object types are checked: a selection of a field of an
 * interface reads the fields of the object types.
 */
export function scopeFaults(schema: GraphQLSchema): string[] {
  return Object.values(schema.getTypeMap()).flatMap((type) => {
    const faults = requiredScope(type)
      ? [`${type}: use @RequiresScope on its fields, since it is not checked on types`]
      : [];
    if (isInputObjectType(type) || isEnumType(type)) {
      const elements = isEnumType(type) ? type.getValues() : Object.values(type.getFields());
      for (const element of elements)
        if (requiredScope(element))
          faults.push(`${type}.${element.name}: @RequiresScope is checked only on fields of objects`);
      return faults;
    }
    if (!isObjectType(type) && !isInterfaceType(type)) return faults;
    for (const field of Object.values(type.getFields())) {
      for (const { name } of field.args.filter(requiredScope))
        faults.push(`${type}.${field.name}(${name}:): @RequiresScope is checked only on fields of objects`);
      if (!isInterfaceType(type) || !requiredScope(field)) continue;
      for (const each of schema.getImplementations(type).objects)
        if (requiredScope(each.getFields()[field.name] ?? {}) !== requiredScope(field))
          faults.push(`${each}.${field.name} needs the same @RequiresScope as ${type}.${field.name}`);
    }
    return faults;
  });
}
