import type { RestRoute } from '../../rest/rest-route';

/** The fields of a pet in all REST responses. The ETag of the pet is computed from them. */
const PET = 'fragment pet on Pet { id name status categoryId }';

/** The REST operations on pets. */
export const PET_ROUTES: readonly RestRoute[] = [
  {
    on: 'GET /pets',
    ok: 200,
    summary: 'List pets',
    document: `query listPets(
        $limit: Int = 20, $cursor: String, $sort: PetSort,
        $id: [ID!], $status: [PetStatus!], $categoryId: [ID!], $name: String
      ) {
        pets(
          first: $limit, after: $cursor, orderBy: $sort,
          filter: { ids: $id, statuses: $status, categoryIds: $categoryId, name: $name }
        ) { nodes { ...pet } pageInfo { hasNextPage endCursor } }
      } ${PET}`,
  },
  {
    on: 'POST /pets',
    ok: 201,
    summary: 'Create a pet',
    document: `mutation createPet($input: NewPet!) { createPet(input: $input) { ...pet } } ${PET}`,
  },
  {
    on: 'GET /pets/{petId}',
    ok: 200,
    summary: 'Get a pet',
    description:
      'Deprecated since 2026-11-01: use `GET /pets?id={petId}`. This operation works throughout version 1, and at least until 2027-11-01 (`Sunset`).',
    document: `query getPet($petId: ID!) { pet(id: $petId) { ...pet } } ${PET}`,
    deprecation: {
      since: new Date('2026-11-01T00:00:00Z'),
      sunset: new Date('2027-11-01T00:00:00Z'),
      successor: '/pets?id={petId}',
    },
  },
  {
    on: 'PUT /pets/{petId}',
    ok: 200,
    summary: 'Replace a pet',
    description: 'Replaces the pet. An omitted status becomes `available`.',
    body: 'NewPet',
    document: `mutation replacePet($petId: ID!, $name: String!, $categoryId: ID!, $status: PetStatus! = available) {
        updatePet(id: $petId, input: { name: $name, categoryId: $categoryId, status: $status }) { ...pet }
      } ${PET}`,
  },
  {
    on: 'PATCH /pets/{petId}',
    ok: 200,
    summary: 'Update a pet',
    document: `mutation updatePet($petId: ID!, $input: PetUpdate!) { updatePet(id: $petId, input: $input) { ...pet } } ${PET}`,
  },
  {
    on: 'DELETE /pets/{petId}',
    ok: 204,
    summary: 'Delete a pet',
    description: 'Deletes a pet and its inventory entry. The pet must have no orders.',
    document: `mutation deletePet($petId: ID!) { deletePet(id: $petId) { ...pet } } ${PET}`,
  },
];
