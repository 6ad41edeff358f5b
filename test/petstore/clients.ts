import type { Gateway } from '../helper/gateway';
import { send } from '../rest/client';

/** A row in the format of GraphQL: ids are strings, and missing values are null. */
export type Row = Record<string, unknown>;

/** A refused operation. Its details have the paths of REST: `name`, not `input.name`. */
export interface Refusal {
  code: string;
  status: number;
  message: string;
  details: Detail[];
}

/** A resource: its GraphQL type and fields, and its REST path. */
interface Resource {
  readonly type: string;
  readonly fields: string;
  readonly path: string;
  /** The GraphQL root field of each operation. */
  readonly read: string;
  readonly list: string;
  readonly create: string;
  readonly update: string;
  readonly remove: string;
}

export const PETS: Resource = {
  type: 'Pet',
  fields: 'id name status categoryId',
  path: '/pets',
  read: 'pet',
  list: 'pets',
  create: 'createPet',
  update: 'updatePet',
  remove: 'deletePet',
};
export const CATEGORIES: Resource = {
  type: 'Category',
  fields: 'id name description',
  path: '/categories',
  read: 'category',
  list: 'categories',
  create: 'createCategory',
  update: 'updateCategory',
  remove: 'deleteCategory',
};
export const ORDERS: Resource = {
  type: 'Order',
  fields: 'id petId quantity shipDate complete',
  path: '/store/orders',
  read: 'order',
  list: 'orders',
  create: 'placeOrder',
  update: 'updateOrder',
  remove: 'cancelOrder',
};
export const INVENTORY: Resource = {
  type: 'InventoryItem',
  fields: 'petId quantity status',
  path: '/store/inventory',
  read: 'inventoryItem',
  list: 'inventory',
  create: '',
  update: 'setInventory',
  remove: 'removeInventory',
};

/** The operations on a resource, over either GraphQL or REST. */
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

function graphqlClient(gateway: () => Gateway, { type, fields, ...resource }: Resource): Client {
  const key = type === 'InventoryItem' ? 'petId' : 'id';
  const updateType = type === 'InventoryItem' ? 'InventoryUpdate' : `${type}Update`;
  const run = async (query: string, variables: object): Promise<Row | Refusal | null> => {
    const { status, data, errors } = await gateway().graphql<{ it: Row | null }>(query, variables);
    const [error] = errors;
    if (!error) {
      expect(status).toBe(200);
      return data.it;
    }
    const { code, status: own, details = [] } = error.extensions as unknown as Refusal;
    // The HTTP status is the status of the error only if no field ran. If a field failed, the HTTP status is 200.
    expect([errors.length, status]).toEqual([1, data === undefined ? own : 200]);
    return { code, status: own, message: error.message, details: details.map(withoutInput) };
  };
  const read = (id: number | string) =>
    run(`query ($id: ID!) { it: ${resource.read}(${key}: $id) { ${fields} } }`, { id }) as Promise<Row | null>;
  return {
    read,
    async list() {
      const query = `{ list: ${resource.list}(first: 100) { nodes { ${fields} } } }`;
      const { list } = await gateway().data<{ list: { nodes: Row[] } }>(query);
      return list.nodes;
    },
    create(input) {
      const query = `mutation ($input: New${type}!) { it: ${resource.create}(input: $input) { ${fields} } }`;
      return run(query, { input }) as Promise<Row>;
    },
    update(id, input) {
      const field = `${resource.update}(${key}: $id, input: $input)`;
      return run(`mutation ($id: ID!, $input: ${updateType}!) { it: ${field} { ${fields} } }`, {
        id,
        input,
      }) as Promise<Row>;
    },
    async remove(id) {
      const before = await read(id);
      const field = `${resource.remove}(${key}: $id)`;
      const removed = (await run(`mutation ($id: ID!) { it: ${field} { ${fields} } }`, { id })) as Row | Refusal;
      if ('code' in removed) return removed as Refusal;
      expect(removed).toEqual(before);
      return 'removed';
    },
  };
}

function withoutInput(detail: Detail): Detail {
  return { ...detail, path: detail.path.replace(/^input\./, '') };
}

function restClient(gateway: () => Gateway, { type, fields, path }: Resource): Client {
  const names = fields.split(' ');
  const rowOf = (payload: unknown): Row => {
    const given = payload as Record<string, unknown>;
    expect(names).toEqual(expect.arrayContaining(Object.keys(given)));
    expect(Object.values(given)).not.toContain(null);
    const written = (name: string) => (/id$/i.test(name) ? String(given[name]) : given[name]);
    return Object.fromEntries(names.map((name) => [name, name in given ? written(name) : null]));
  };
  const run = async (expected: number, on: string, body?: object) => {
    const { status, json, headers } = await send(gateway(), on, body);
    expect(headers['content-type']).toBe(status === 204 ? undefined : 'application/json; charset=utf-8');
    if (status === expected) return { row: json === undefined ? undefined : rowOf(json), headers };
    const error = json as Refusal & { requestId: string };
    expect([error.status, error.requestId]).toEqual([status, headers['x-request-id']]);
    return { refusal: { ...error, details: error.details ?? [] } as Refusal, headers };
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
      const { row, refusal } = await run(200, `${type === 'InventoryItem' ? 'PUT' : 'PATCH'} ${path}/${id}`, input);
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
  rule?: string;
  params?: object;
}
