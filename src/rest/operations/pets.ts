import type { Definition } from '../operation';

export const list: Definition = {
  field: 'Query.pets',
  tag: 'Pets',
  summary: 'List pets',
  description: 'Pets that match every given filter, one page at a time.',
};

export const create: Definition = {
  field: 'Mutation.createPet',
  tag: 'Pets',
  summary: 'Create a pet',
  description: 'Adds a pet to the store. Its status is `available` unless given; its `id` is assigned.',
  errors: ['UNKNOWN_REFERENCE'],
};

export const get: Definition = {
  field: 'Query.pet',
  tag: 'Pets',
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
  tag: 'Pets',
  summary: 'Replace a pet',
  description: 'Replaces the pet. An omitted status becomes `available`.',
  body: { type: 'NewPet', defaults: { status: 'available' } },
  errors: ['UNKNOWN_REFERENCE'],
};

export const update: Definition = {
  field: 'Mutation.updatePet',
  tag: 'Pets',
  summary: 'Update a pet',
  description: 'Changes the given fields only (JSON Merge Patch, RFC 7396).',
  errors: ['UNKNOWN_REFERENCE'],
};

export const remove: Definition = {
  field: 'Mutation.deletePet',
  tag: 'Pets',
  summary: 'Delete a pet',
  description: 'Deletes a pet that has no orders, and its inventory entry.',
  errors: ['PET_HAS_ORDERS'],
};
