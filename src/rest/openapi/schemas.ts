import type { OpenAPIV3 } from 'openapi-types';
import type { BodySchema, Payload } from '../operation';

type Schema = OpenAPIV3.SchemaObject;

export const INT64: Schema = { type: 'integer', format: 'int64', minimum: 1 };
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const arrayOf = (name: string): Schema => ({ type: 'array', items: ref(name) });
/** An object of a request: fields that it does not have are refused. */
const closed = (schema: Schema): Schema => ({ type: 'object', ...schema, additionalProperties: false });

const id = (description: string): Schema => ({ ...INT64, description, example: 1 });
const name = (description: string): Schema => ({ type: 'string', minLength: 1, maxLength: 255, description });
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
  type: 'integer',
  format: 'int32',
  minimum: 1,
  description: 'Number of units ordered',
  example: 2,
};
const shipDate: Schema = {
  type: 'string',
  format: 'date-time',
  description: 'Expected or actual ship date; answered in UTC with milliseconds',
  example: '2026-12-01T09:30:00.000Z',
};
const complete: Schema = {
  type: 'boolean',
  description: 'Whether the order has been fulfilled; false unless given',
  example: false,
};
const stock: Schema = {
  type: 'integer',
  format: 'int32',
  minimum: 0,
  description: 'Current stock count',
  example: 5,
};

const petFields = { name: petName, categoryId, status: ref('PetStatus') };
const categoryFields = { name: categoryName, description };
const orderFields = { petId, quantity, shipDate, complete };
const nullable = (schema: Schema): Schema => ({ ...schema, nullable: true });

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
  NewPet: closed({ required: ['name', 'categoryId'], properties: petFields }),
  PetUpdate: closed({ properties: petFields }),
  Pet: {
    type: 'object',
    required: ['id', 'name', 'categoryId'],
    properties: { id: id('Unique identifier assigned on creation'), ...petFields },
  },
  Pets: arrayOf('Pet'),
  NewCategory: closed({ required: ['name'], properties: categoryFields }),
  CategoryUpdate: closed({ properties: { name: categoryName, description: nullable(description) } }),
  Category: {
    type: 'object',
    required: ['id', 'name'],
    properties: { id: id('Unique identifier assigned on creation'), ...categoryFields },
  },
  Categories: arrayOf('Category'),
  NewOrder: closed({ properties: orderFields }),
  OrderUpdate: closed({
    properties: {
      petId: nullable(petId),
      quantity: nullable(quantity),
      shipDate: nullable(shipDate),
      complete,
    },
  }),
  Order: { type: 'object', properties: { id: id('Unique order identifier'), ...orderFields } },
  Orders: arrayOf('Order'),
  InventoryUpdate: closed({
    required: ['quantity'],
    properties: { quantity: { ...stock, description: 'The new stock count' } },
  }),
  InventoryItem: {
    type: 'object',
    required: ['petId', 'quantity', 'status'],
    properties: {
      petId: id('ID of the animal the entry tracks'),
      quantity: stock,
      status: ref('PetStatus'),
    },
  },
  Inventory: arrayOf('InventoryItem'),
  RateLimit: {
    type: 'object',
    required: ['plan', 'windows'],
    properties: {
      plan: {
        type: 'string',
        enum: ['FREE', 'PRO', 'BUSINESS', 'ENTERPRISE'],
        description: 'The plan whose quota is in force',
        example: 'FREE',
      },
      windows: { ...arrayOf('RateLimitWindow'), description: 'The minute and the day' },
      bannedUntil: {
        type: 'string',
        format: 'date-time',
        description: 'When the ban of this caller ends',
        example: '2026-11-21T10:01:00.000Z',
      },
    },
  },
  RateLimitWindow: {
    type: 'object',
    required: ['name', 'limit', 'remaining', 'resetAt'],
    properties: {
      name: { type: 'string', enum: ['minute', 'day'], description: 'Which window', example: 'minute' },
      limit: { type: 'integer', format: 'int32', description: 'How many requests it holds', example: 60 },
      remaining: { type: 'integer', format: 'int32', description: 'How many are left', example: 57 },
      resetAt: {
        type: 'string',
        format: 'date-time',
        description: 'When it ends',
        example: '2026-11-21T10:00:30.000Z',
      },
    },
  },
  Error: {
    type: 'object',
    required: ['code', 'message', 'status'],
    properties: {
      code: { type: 'string', description: 'A machine-readable error code', example: 'BAD_USER_INPUT' },
      message: {
        type: 'string',
        description: 'A human-readable description of the error',
        example: 'name: must not be empty',
      },
      status: { type: 'integer', format: 'int32', description: 'The HTTP status code', example: 400 },
      details: { ...arrayOf('ErrorDetail'), description: 'Each thing that is wrong with the input' },
      requestId: {
        type: 'string',
        description: 'The id of the request, as in `X-Request-Id`',
        example: '5f0c7f0e-6f1c-4f7e-9a55-0d6d2b8c1a11',
      },
    },
  },
  ErrorDetail: {
    type: 'object',
    required: ['path', 'message'],
    properties: {
      path: { type: 'string', description: 'The parameter or the field of the body', example: 'name' },
      message: { type: 'string', description: 'The rule that it breaks', example: 'must not be empty' },
    },
  },
};
