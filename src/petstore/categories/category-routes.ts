import type { Operation } from '../../rest/rest-operation';

/** The REST operations on categories. */
export const CATEGORY_ROUTES: readonly Operation[] = [
  {
    id: 'listCategories',
    on: 'GET /categories',
    ok: 200,
    field: 'Query.categories',
    summary: 'List categories',
    filters: { ids: 'id' },
  },
  {
    id: 'createCategory',
    on: 'POST /categories',
    ok: 201,
    field: 'Mutation.createCategory',
    summary: 'Create a category',
  },
  {
    id: 'getCategory',
    on: 'GET /categories/{categoryId}',
    ok: 200,
    field: 'Query.category',
    summary: 'Get a category',
    description: 'The category with this id.',
  },
  {
    id: 'replaceCategory',
    on: 'PUT /categories/{categoryId}',
    ok: 200,
    field: 'Mutation.updateCategory',
    summary: 'Replace a category',
    description: 'Replaces the category. An omitted description is removed.',
    replaces: { type: 'NewCategory' },
  },
  {
    id: 'updateCategory',
    on: 'PATCH /categories/{categoryId}',
    ok: 200,
    field: 'Mutation.updateCategory',
    summary: 'Update a category',
  },
  {
    id: 'deleteCategory',
    on: 'DELETE /categories/{categoryId}',
    ok: 204,
    field: 'Mutation.deleteCategory',
    summary: 'Delete a category',
    description: 'Deletes a category that has no pets.',
  },
];
