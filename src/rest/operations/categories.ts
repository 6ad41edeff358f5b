import type { Definition } from '../operation';

export const list: Definition = {
  tag: 'Categories',
  summary: 'List categories',
  description: 'Categories that match every given filter, one page at a time.',
  document: `
    query listCategories($limit: Int, $cursor: String, $sort: CategoryOrderBy, $id: [ID!], $name: String) {
      categories(first: $limit, after: $cursor, orderBy: $sort, filter: { ids: $id, name: $name }) {
        nodes { id name description }
        pageInfo { hasNextPage endCursor }
      }
    }`,
  parameters: {
    id: 'Only categories with these ids.',
    name: 'Only categories whose name contains this text, case-insensitively.',
  },
};

export const create: Definition = {
  tag: 'Categories',
  summary: 'Create a category',
  description: 'Adds a category; its `id` is assigned.',
  document: `
    mutation createCategory($name: String!, $description: String) {
      createCategory(input: { name: $name, description: $description }) { id name description }
    }`,
  body: 'NewCategory',
};

export const get: Definition = {
  tag: 'Categories',
  summary: 'Get a category',
  description: 'The category with this id.',
  document: `
    query getCategory($categoryId: ID!) {
      category(id: $categoryId) { id name description }
    }`,
  missing: 'Category {categoryId} does not exist.',
};

export const replace: Definition = {
  tag: 'Categories',
  summary: 'Replace a category',
  description: 'Replaces the category. An omitted description is removed.',
  document: `
    mutation replaceCategory($categoryId: ID!, $name: String!, $description: String = null) {
      updateCategory(id: $categoryId, input: { name: $name, description: $description }) { id name description }
    }`,
  body: 'NewCategory',
};

export const update: Definition = {
  tag: 'Categories',
  summary: 'Update a category',
  description: 'Changes the given fields only (JSON Merge Patch, RFC 7396). `null` removes the description.',
  document: `
    mutation updateCategory($categoryId: ID!, $name: String, $description: String) {
      updateCategory(id: $categoryId, input: { name: $name, description: $description }) { id name description }
    }`,
  body: 'CategoryUpdate',
};

export const remove: Definition = {
  tag: 'Categories',
  summary: 'Delete a category',
  description: 'Deletes a category that has no pets.',
  document: `
    mutation deleteCategory($categoryId: ID!) {
      deleteCategory(id: $categoryId) { id }
    }`,
  errors: ['CATEGORY_NOT_EMPTY'],
};
