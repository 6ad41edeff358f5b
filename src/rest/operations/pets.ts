import type { Definition } from '../operation';

export const list: Definition = {
  tag: 'Pets',
  summary: 'List pets',
  description: 'Pets that match every given filter, one page at a time.',
  document: `
    query listPets($limit: Int, $cursor: String, $sort: PetOrderBy, $id: [ID!], $status: [PetStatus!], $categoryId: [ID!], $name: String) {
      pets(first: $limit, after: $cursor, orderBy: $sort, filter: { ids: $id, status: $status, categoryId: $categoryId, name: $name }) {
        nodes { id name status categoryId }
        pageInfo { hasNextPage endCursor }
      }
    }`,
  parameters: {
    id: 'Only pets with these ids.',
    status: 'Only pets with any of these statuses.',
    categoryId: 'Only pets in any of these categories.',
    name: 'Only pets whose name contains this text, case-insensitively.',
  },
};

export const create: Definition = {
  tag: 'Pets',
  summary: 'Create a pet',
  description: 'Adds a pet to the store. Its status is `available` unless given; its `id` is assigned.',
  document: `
    mutation createPet($name: String!, $categoryId: ID!, $status: PetStatus) {
      createPet(input: { name: $name, categoryId: $categoryId, status: $status }) { id name status categoryId }
    }`,
  body: 'NewPet',
  errors: ['UNKNOWN_REFERENCE'],
};

export const get: Definition = {
  tag: 'Pets',
  summary: 'Get a pet',
  description:
    'Deprecated since 2026-11-01: use `GET /pets?id={petId}`. It works throughout version 1, and at least until 2027-11-01 (`Sunset`).',
  document: `
    query getPet($petId: ID!) {
      pet(id: $petId) { id name status categoryId }
    }`,
  missing: 'Pet {petId} does not exist.',
  deprecation: {
    since: new Date('2026-11-01T00:00:00Z'),
    sunset: new Date('2027-11-01T00:00:00Z'),
    successor: '/pets?id={petId}',
  },
};

export const replace: Definition = {
  tag: 'Pets',
  summary: 'Replace a pet',
  description: 'Replaces the pet. An omitted status becomes `available`.',
  document: `
    mutation replacePet($petId: ID!, $name: String!, $categoryId: ID!, $status: PetStatus = available) {
      updatePet(id: $petId, input: { name: $name, categoryId: $categoryId, status: $status }) { id name status categoryId }
    }`,
  body: 'NewPet',
  errors: ['UNKNOWN_REFERENCE'],
};

export const update: Definition = {
  tag: 'Pets',
  summary: 'Update a pet',
  description: 'Changes the given fields only (JSON Merge Patch, RFC 7396).',
  document: `
    mutation updatePet($petId: ID!, $name: String, $categoryId: ID, $status: PetStatus) {
      updatePet(id: $petId, input: { name: $name, categoryId: $categoryId, status: $status }) { id name status categoryId }
    }`,
  body: 'PetUpdate',
  errors: ['UNKNOWN_REFERENCE'],
};

export const remove: Definition = {
  tag: 'Pets',
  summary: 'Delete a pet',
  description: 'Deletes a pet that has no orders, and its inventory entry.',
  document: `
    mutation deletePet($petId: ID!) {
      deletePet(id: $petId) { id }
    }`,
  errors: ['PET_HAS_ORDERS'],
};
