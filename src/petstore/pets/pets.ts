import type { Definition } from '../../rest/rest-operation';

export const list: Definition = { field: 'Query.pets', summary: 'List pets' };

export const create: Definition = { field: 'Mutation.createPet', summary: 'Create a pet' };

export const get: Definition = {
  field: 'Query.pet',
  summary: 'Get a pet',
  description:
    'Deprecated since 2026-11-01: use `GET /pets?id={petId}`. It works throughout version 1, and at least until 2027-11-01 (`Sunset`).',
  deprecation: {
    since: new Date('2026-11-01T00:00:00Z'),
    sunset: new Date('2027-11-01T00:00:00Z'),
    successor: '/pets?id={petId}',
  },
};

export const replace: Definition = {
  field: 'Mutation.updatePet',
  summary: 'Replace a pet',
  description: 'Replaces the pet. An omitted status becomes `available`.',
  replaces: { type: 'NewPet', defaults: { status: 'available' } },
};

export const update: Definition = { field: 'Mutation.updatePet', summary: 'Update a pet' };

export const remove: Definition = {
  field: 'Mutation.deletePet',
  summary: 'Delete a pet',
  description: 'Deletes a pet that has no orders, and its inventory entry.',
};
