import type { Definition } from '../../rest/rest-operation';

export const list: Definition = { field: 'Query.categories', summary: 'List categories' };

export const create: Definition = { field: 'Mutation.createCategory', summary: 'Create a category' };

export const get: Definition = {
  field: 'Query.category',
  summary: 'Get a category',
  description: 'The category with this id.',
};

export const replace: Definition = {
  field: 'Mutation.updateCategory',
  summary: 'Replace a category',
  description: 'Replaces the category. An omitted description is removed.',
  replaces: { type: 'NewCategory' },
};

export const update: Definition = { field: 'Mutation.updateCategory', summary: 'Update a category' };

export const remove: Definition = {
  field: 'Mutation.deleteCategory',
  summary: 'Delete a category',
  description: 'Deletes a category that has no pets.',
};
