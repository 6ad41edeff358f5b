import { Arg, type ClassType } from 'type-graphql';
import { Id } from '../scalars';

/** The argument that names an object by its id. @param what the kind of object: `pet`. */
export const IdOf = (what: string, name = 'id') => Arg(name, () => Id, { description: `The ${what}'s id.` });

/** The argument that says what to create, or which fields to update. */
export const Input = (type: ClassType, description = 'The fields to update.') =>
  Arg('input', () => type, { description });
