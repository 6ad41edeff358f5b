import type { RestRoute } from '../../rest/rest-route';

/** The fields of a category in all REST responses. The ETag of the category is computed from them. */
const CATEGORY = 'fragment category on Category { id name description }';

/** The REST operations on categories. */
export const CATEGORY_ROUTES: readonly RestRoute[] = [
  {
    on: 'GET /categories',
    ok: 200,
    summary: 'List categories',
    document: `query listCategories(
        $limit: Int = 20, $cursor: String, $sort: CategorySort, $id: [ID!], $name: String
      ) {
        categories(first: $limit, after: $cursor, orderBy: $sort, filter: { ids: $id, name: $name }) {
          nodes { ...category } pageInfo { hasNextPage endCursor }
        }
      } ${CATEGORY}`,
  },
  {
    on: 'POST /categories',
    ok: 201,
    summary: 'Create a category',
    document: `mutation createCategory($input: NewCategory!) {
        createCategory(input: $input) { ...category }
      } ${CATEGORY}`,
  },
  {
    on: 'GET /categories/{categoryId}',
    ok: 200,
    summary: 'Get a category',
    description: 'The category with this id.',
    document: `query getCategory($categoryId: ID!) { category(id: $categoryId) { ...category } } ${CATEGORY}`,
  },
  {
    on: 'PUT /categories/{categoryId}',
    ok: 200,
    summary: 'Replace a category',
    description: 'Replaces the category. An omitted description is removed.',
    body: 'NewCategory',
    document: `mutation replaceCategory($categoryId: ID!, $name: String!, $description: String = null) {
        updateCategory(id: $categoryId, input: { name: $name, description: $description }) { ...category }
      } ${CATEGORY}`,
  },
  {
    on: 'PATCH /categories/{categoryId}',
    ok: 200,
    summary: 'Update a category',
    document: `mutation updateCategory($categoryId: ID!, $input: CategoryUpdate!) {
        updateCategory(id: $categoryId, input: $input) { ...category }
      } ${CATEGORY}`,
  },
  {
    on: 'DELETE /categories/{categoryId}',
    ok: 204,
    summary: 'Delete a category',
    description: 'Deletes a category that has no pets.',
    document: `mutation deleteCategory($categoryId: ID!) {
        deleteCategory(id: $categoryId) { ...category }
      } ${CATEGORY}`,
  },
];
