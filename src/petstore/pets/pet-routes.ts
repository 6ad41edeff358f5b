import type { Operation } from '../../rest/rest-operation';

/** The REST operations on pets. */
export const PET_ROUTES: readonly Operation[] = [
  {
    id: 'listPets',
    on: 'GET /pets',
    ok: 200,
    field: 'Query.pets',
    summary: 'List pets',
    filters: { ids: 'id', statuses: 'status', categoryIds: 'categoryId' },
  },
  { id: 'createPet', on: 'POST /pets', ok: 201, field: 'Mutation.createPet', summary: 'Create a pet' },
  {
    id: 'getPet',
    on: 'GET /pets/{petId}',
    ok: 200,
    field: 'Query.pet',
    summary: 'Get a pet',
    description:
      'Deprecated since 2026-11-01: use `GET /pets?id={petId}`. It works throughout version 1, and at least until 2027-11-01 (`Sunset`).',
    deprecation: {
      since: new Date('2026-11-01T00:00:00Z'),
      sunset: new Date('2027-11-01T00:00:00Z'),
      successor: '/pets?id={petId}',
    },
  },
  {
    id: 'replacePet',
    on: 'PUT /pets/{petId}',
    ok: 200,
    field: 'Mutation.updatePet',
    summary: 'Replace a pet',
    description: 'Replaces the pet. An omitted status becomes `available`.',
    replaces: { type: 'NewPet', defaults: { status: 'available' } },
  },
  { id: 'updatePet', on: 'PATCH /pets/{petId}', ok: 200, field: 'Mutation.updatePet', summary: 'Update a pet' },
  {
    id: 'deletePet',
    on: 'DELETE /pets/{petId}',
    ok: 204,
    field: 'Mutation.deletePet',
    summary: 'Delete a pet',
    description: 'Deletes a pet that has no orders, and its inventory entry.',
  },
];
