import type { Gateway } from '../helper/gateway';
import { send } from '../rest/client';

/** A row as GraphQL writes it: ids are strings, and absent values null. */
export type Row = Record<string, unknown>;

/** A refused operation. Its details have the paths of REST: `name`, not `input.name`. */
export interface Refusal {
  code: string;
  status: number;
  message: string;
  details: Detail[];
}

/** A resource over both interfaces. */
interface Resource {
  readonly type: string;
  readonly fields: readonly string[];
  readonly path: string;
  /** The root fields of GraphQL, each with its arguments. */
  readonly read: string;
  readonly list: string;
  readonly create?: string;
  readonly update: string;
  readonly remove: string;
  /** The type of each input. */
  readonly inputs: Readonly<Record<'create' | 'update', string>>;
  /** The method with which REST updates. */
  readonly method: 'PATCH' | 'PUT';
}

export const PETS: Resource = {
  type: 'Pet',
  fields: ['id', 'name', 'status', 'categoryId'],
  path: '/pets',
  read: 'pet(id: $id)',
  list: 'pets',
  create: 'createPet(input: $input)',
  update: 'updatePet(id: $id, input: $input)',
  remove: 'deletePet(id: $id)',
  inputs: { create: 'NewPet', update: 'PetUpdate' },
  method: 'PATCH',
};
export const CATEGORIES: Resource = {
  type: 'Category',
  fields: ['id', 'name', 'description'],
  path: '/categories',
  read: 'category(id: $id)',
  list: 'categories',
  create: 'createCategory(input: $input)',
  update: 'updateCategory(id: $id, input: $input)',
  remove: 'deleteCategory(id: $id)',
  inputs: { create: 'NewCategory', update: 'CategoryUpdate' },
  method: 'PATCH',
};
export const ORDERS: Resource = {
  type: 'Order',
  fields: ['id', 'petId', 'quantity', 'shipDate', 'complete'],
  path: '/store/orders',
  read: 'order(id: $id)',
  list: 'orders',
  create: 'placeOrder(input: $input)',
  update: 'updateOrder(id: $id, input: $input)',
  remove: 'cancelOrder(id: $id)',
  inputs: { create: 'NewOrder', update: 'OrderUpdate' },
  method: 'PATCH',
};
export const INVENTORY: Resource = {
  type: 'InventoryItem',
  fields: ['petId', 'quantity', 'status'],
  path: '/store/inventory',
  read: 'inventoryItem(petId: $id)',
  list: 'inventory',
  update: 'setInventory(petId: $id, input: $input)',
  remove: 'removeInventory(petId: $id)',
  inputs: { create: 'InventoryUpdate', update: 'InventoryUpdate' },
  method: 'PUT',
};

/** The operations on a resource over one interface. */
export interface Client {
  read(id: number | string): Promise<Row | null>;
  /** Reads all rows, in the order of their ids. */
  list(): Promise<Row[]>;
  create(input: object): Promise<Row | Refusal>;
  update(id: number | string, input: object): Promise<Row | Refusal>;
  remove(id: number | string): Promise<'removed' | Refusal>;
}

export const INTERFACES = ['GraphQL', 'REST'] as const;

export function clientOf(name: (typeof INTERFACES)[number], gateway: () => Gateway, resource: Resource): Client {
  return name === 'REST' ? restClient(gateway, resource) : graphqlClient(gateway, resource);
}

function graphqlClient(gateway: () => Gateway, resource: Resource): Client {
  const selection = `{ ${resource.fields.join(' ')} }`;
  const run = async (kind: string, field: string, variables: { id?: unknown; input?: object } = {}, input = '') => {
    const declared = [field.includes('$id') && '$id: ID!', field.includes('$input') && `$input: ${input}!`];
    const query = `${kind} (${declared.filter(Boolean).join(', ')}) { it: ${field} ${selection} }`;
    const { status, data, errors } = await gateway().graphql<{ it: Row | null }>(query, variables);
    const [error] = errors;
    if (!error) {
      expect(status).toBe(200);
      return data.it;
    }
    const {
      code,
      status: own,
      details = [],
    } = error.extensions as { code: string; status: number; details?: Detail[] };
    // A field that fails leaves the response's status.
    expect([errors.length, status]).toEqual([1, data === undefined ? own : 200]);
    return refusal(code, own, error.message, details);
  };
  const read = (id: number | string) => run('query', resource.read, { id }) as Promise<Row | null>;
  return {
    read,
    async list() {
      const query = `{ list: ${resource.list}(first: 100) { nodes ${selection} } }`;
      const { list } = await gateway().data<{ list: { nodes: Row[] } }>(query);
      return list.nodes;
    },
    create: (input) => run('mutation', resource.create ?? '', { input }, resource.inputs.create) as Promise<Row>,
    update: (id, input) => run('mutation', resource.update, { id, input }, resource.inputs.update) as Promise<Row>,
    async remove(id) {
      const before = await read(id);
      const removed = (await run('mutation', resource.remove, { id })) as Row | Refusal;
      if ('code' in removed) return removed as Refusal;
      expect(removed).toEqual(before);
      return 'removed';
    },
  };
}

function restClient(gateway: () => Gateway, { type, fields, path, method }: Resource): Client {
  const rowOf = (payload: unknown): Row => {
    const given = payload as Record<string, unknown>;
    expect(fields).toEqual(expect.arrayContaining(Object.keys(given)));
    expect(Object.values(given)).not.toContain(null);
    const written = (field: string) => (/id$/i.test(field) ? String(given[field]) : given[field]);
    return Object.fromEntries(fields.map((field) => [field, field in given ? written(field) : null]));
  };
  const run = async (expected: number, on: string, body?: object) => {
    const { status, json, headers } = await send(gateway(), on, body);
    expect(headers['content-type']).toBe(status === 204 ? undefined : 'application/json; charset=utf-8');
    if (status === expected) return { row: json === undefined ? undefined : rowOf(json), headers };
    const error = json as { code: string; status: number; message: string; details?: Detail[]; requestId: string };
    expect([error.status, error.requestId]).toEqual([status, headers['x-request-id']]);
    return { refusal: refusal(error.code, status, error.message, error.details ?? []), headers };
  };
  return {
    async read(id) {
      const { row, refusal } = await run(200, `GET ${path}/${id}`);
      if (row) return row;
      const missing = type === 'InventoryItem' ? `Pet ${id} has no inventory entry.` : `${type} ${id} does not exist.`;
      expect(refusal).toMatchObject({ code: 'NOT_FOUND', status: 404, message: missing });
      return null;
    },
    async list() {
      const { json } = await send(gateway(), `GET ${path}?limit=100`);
      return (json as unknown[]).map(rowOf);
    },
    async create(input) {
      const { row, refusal, headers } = await run(201, `POST ${path}`, input);
      if (!row) return refusal as Refusal;
      expect(headers.location).toBe(`${path}/${row.id}`);
      return row;
    },
    async update(id, input) {
      const { row, refusal } = await run(200, `${method} ${path}/${id}`, input);
      return row ?? (refusal as Refusal);
    },
    async remove(id) {
      const { refusal } = await run(204, `DELETE ${path}/${id}`);
      return refusal ?? 'removed';
    },
  };
}

interface Detail {
  path: string;
  message: string;
}

function refusal(code: string, status: number, message: string, details: readonly Detail[]): Refusal {
  return {
    code,
    status,
    message,
    details: details.map((each) => ({ ...each, path: each.path.replace(/^input\./, '') })),
  };
}
