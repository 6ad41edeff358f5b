import type { Definition } from '../operation';

export const list: Definition = {
  field: 'Query.categories',
  tag: 'Categories',
  summary: 'List categories',
  description: 'Categories that match every given filter, one page at a time.',
};

export const create: Definition = {
  field: 'Mutation.createCategory',
  tag: 'Categories',
  summary: 'Create a category',
  description: 'Adds a category; its `id` is assigned.',
};

export const get: Definition = {
  field: 'Query.category',
  tag: 'Categories',
  summary: 'Get a category',
  description: 'The category with this id.',
};

export const replace: Definition = {
  field: 'Mutation.updateCategory',
  tag: 'Categories',
  summary: 'Replace a category',
  description: 'Replaces the category. An omitted description is removed.',
  body: { type: 'NewCategory', defaults: { description: null } },
};

export const update: Definition = {
  field: 'Mutation.updateCategory',
  tag: 'Categories',
  summary: 'Update a category',
  description: 'Changes the given fields only (JSON Merge Patch, RFC 7396). `null` removes the description.',
};

export const remove: Definition = {
  field: 'Mutation.deleteCategory',
  tag: 'Categories',
  summary: 'Delete a category',
  description: 'Deletes a category that has no pets.',
  errors: ['CATEGORY_NOT_EMPTY'],
};
