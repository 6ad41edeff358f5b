import type { BodySchema, Payload } from '../operation';
import { SERVICE_SCHEMAS } from './service-schemas';
import { arrayOf, INT32, INT64, MOMENT, ref, type Schema } from './values';

/** A page of a list. */
const pageOf = (name: string, example: object): Schema => ({
  ...arrayOf(name),
  description: 'A page of the list; the next one is in `Link`.',
  example: [example],
});
/** An object in a request: unknown fields are refused. */
const closed = (schema: Schema): Schema => ({ type: 'object', ...schema, additionalProperties: false });

const id = (description: string): Schema => ({ ...INT64, description, example: 1 });
const name = (description: string): Schema => ({
  type: 'string',
  minLength: 1,
  maxLength: 255,
  pattern: '\\S',
  description,
});
const petName = { ...name("The animal's name"), example: 'Rex' };
const categoryName = { ...name('The category name (for example a kind of animal)'), example: 'Dogs' };
const categoryId = id('ID of the category the animal belongs to');
const description: Schema = {
  type: 'string',
  maxLength: 2000,
  description: 'A short description of the category',
  example: 'Loyal, and always hungry',
};
const petId = id('ID of the animal in the order');
const quantity: Schema = {
  ...INT32,
  minimum: 1,
  description: 'Number of units ordered',
  example: 2,
};
const shipDate: Schema = {
  ...MOMENT,
  description: 'Expected or actual ship date; returned in UTC with milliseconds',
  example: '2026-12-01T09:30:00.000Z',
};
const complete: Schema = {
  type: 'boolean',
  description: 'Whether the order has been fulfilled; false unless given',
  example: false,
};
const stock: Schema = {
  ...INT32,
  minimum: 0,
  description: 'Current stock count',
  example: 5,
};

const petFields = { name: petName, categoryId, status: ref('PetStatus') };
const categoryFields = { name: categoryName, description };
const orderFields = { petId, quantity, shipDate, complete };
const nullable = (schema: Schema): Schema => ({ ...schema, nullable: true });

const REX = { id: 1, name: 'Rex', status: 'available', categoryId: 1 };
const DOGS = { id: 1, name: 'Dogs', description: 'Loyal, and always hungry' };
const ORDER = { id: 1, petId: 1, quantity: 2, shipDate: '2026-12-01T09:30:00.000Z', complete: false };
const STOCK = { petId: 1, quantity: 5, status: 'available' };
const { id: _rexId, ...NEW_PET } = REX;
const { id: _dogsId, ...NEW_CATEGORY } = DOGS;
const { id: _orderId, complete: _complete, ...NEW_ORDER } = ORDER;

/** The payloads of the specification (section 2), and those of changes. */
export const SCHEMAS: Readonly<
  Record<Payload | BodySchema | 'PetStatus' | 'Error' | 'ErrorDetail' | 'RateLimitWindow', Schema>
> = {
  PetStatus: {
    type: 'string',
    enum: ['available', 'pending', 'sold'],
    description: 'The status of a pet; `available` unless given. Any status may follow any other.',
    example: 'available',
  },
  NewPet: closed({
    description: 'A pet to add, or to replace another with.',
    required: ['name', 'categoryId'],
    properties: petFields,
    example: NEW_PET,
  }),
  PetUpdate: closed({
    description: 'The fields of a pet to change.',
    properties: petFields,
    example: { status: 'sold' },
  }),
  Pet: {
    type: 'object',
    description: 'An animal of the store.',
    example: REX,
    required: ['id', 'name', 'categoryId'],
    properties: { id: id('Unique identifier assigned on creation'), ...petFields },
  },
  Pets: pageOf('Pet', REX),
  NewCategory: closed({
    description: 'A category to add, or to replace another with.',
    required: ['name'],
    properties: categoryFields,
    example: NEW_CATEGORY,
  }),
  CategoryUpdate: closed({
    description: 'The fields of a category to change; `null` removes the description.',
    properties: { name: categoryName, description: nullable(description) },
    example: { description: null },
  }),
  Category: {
    type: 'object',
    description: 'A kind of animal.',
    example: DOGS,
    required: ['id', 'name'],
    properties: { id: id('Unique identifier assigned on creation'), ...categoryFields },
  },
  Categories: pageOf('Category', DOGS),
  NewOrder: closed({
    description: 'An order to place. It takes stock if it has a pet and a quantity.',
    properties: orderFields,
    example: NEW_ORDER,
  }),
  OrderUpdate: closed({
    description: 'The fields of an order to change; `null` removes one.',
    example: { complete: true },
    properties: {
      petId: nullable(petId),
      quantity: nullable(quantity),
      shipDate: nullable(shipDate),
      complete,
    },
  }),
  Order: {
    type: 'object',
    description: 'An order for units of a pet.',
    example: ORDER,
    properties: { id: id('Unique order identifier'), ...orderFields },
  },
  Orders: pageOf('Order', ORDER),
  InventoryUpdate: closed({
    description: 'The stock to set for a pet.',
    example: { quantity: 5 },
    required: ['quantity'],
    properties: { quantity: { ...stock, description: 'The new stock count' } },
  }),
  InventoryItem: {
    type: 'object',
    description: 'The stock of a pet.',
    example: STOCK,
    required: ['petId', 'quantity', 'status'],
    properties: {
      petId: id('ID of the animal the entry tracks'),
      quantity: stock,
      status: ref('PetStatus'),
    },
  },
  Inventory: pageOf('InventoryItem', STOCK),
  ...SERVICE_SCHEMAS,
};
