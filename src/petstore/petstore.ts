import type { Domain } from '../domain/domain';
import type { Tag } from '../rest/rest-route';
import { CategoryResolver } from './categories/category-resolver';
import { CATEGORY_ROUTES } from './categories/category-routes';
import { CategoryService } from './categories/category-service';
import { ChangeResolver } from './change-resolver';
import { PETSTORE_ERRORS } from './errors';
import { InventoryResolver } from './inventory/inventory-resolver';
import { INVENTORY_ROUTES } from './inventory/inventory-routes';
import { InventoryService } from './inventory/inventory-service';
import { CATEGORIES, INVENTORY, ORDERS, PETS, TABLES } from './model';
import { NODE_ID, NodeResolver } from './nodes';
import { OrderResolver } from './orders/order-resolver';
import { ORDER_ROUTES } from './orders/order-routes';
import { OrderService } from './orders/order-service';
import { PetResolver } from './pets/pet-resolver';
import { PET_ROUTES } from './pets/pet-routes';
import { PetService } from './pets/pet-service';
import { SAMPLES } from './samples';

/** The petstore as a domain. */
export function createPetstore(): Domain {
  return {
    name: 'petstore',
    resolvers: [
      new PetResolver(new PetService()),
      new CategoryResolver(new CategoryService()),
      new OrderResolver(new OrderService()),
      new InventoryResolver(new InventoryService()),
      new NodeResolver(),
      new ChangeResolver(),
    ],
    routes: [...PET_ROUTES, ...CATEGORY_ROUTES, ...ORDER_ROUTES, ...INVENTORY_ROUTES],
    tags: TAGS,
    errors: PETSTORE_ERRORS,
    idForms: [NODE_ID],
    tables: TABLES,
    topics: { pet: PETS, category: CATEGORIES, order: ORDERS, inventory: INVENTORY } as Domain['topics'],
    samples: SAMPLES,
    buildSubgraph: async (parts) => (await import('./federation.js')).buildSubgraph(parts),
    descriptions: {
      title: 'Petstore Gateway',
      schema: SCHEMA_DESCRIPTION,
      rest: REST_DESCRIPTION,
      firstWrite: { path: '/categories', body: { name: 'Dogs' } },
    },
  };
}

/** The tags of the REST operations, by the first segment of their paths. */
const TAGS: Readonly<Record<string, Tag>> = {
  pets: { name: 'Pets', description: 'Pets, each with a name, a category and a status.' },
  categories: {
    name: 'Categories',
    description: 'Kinds of pets. A category that still has pets cannot be deleted.',
  },
  store: {
    name: 'Store',
    description:
      'Orders for pets, and the stock of the pets. An order takes its units when it is placed. Cancelling the order returns the units, unless the order is complete.',
  },
};

/** The description of the GraphQL schema. */
const SCHEMA_DESCRIPTION = `A pet store: pets in categories, orders for them, and their stock.

An \`id\` is a positive 64-bit integer, written as a string; the \`id\` of an API key is 12 lower-case letters or digits. A field
with \`@rateLimit\` counts as one request. \`@requiresScope\` names the scope that the caller needs. \`@errors\` names the
errors that the field itself can cause. The field's description repeats the scope and the errors. In the \`extensions\` of an
error, \`code\` is its \`ErrorCode\`, \`status\` is its HTTP status, and \`details\` lists the problems with the input. Lists are
Relay connections: pages with opaque cursors. Guides are at \`/docs\`.`;

/** The description of the REST interface, in Markdown. */
const REST_DESCRIPTION = `Pets, the categories they belong to, orders for them, and their stock.

- **Lists** are bare arrays. The next page is in the \`Link\` header with \`rel="next"\`.
- **Values** that are absent are left out of an object, and never null.
- **Identifiers** are 64-bit integers: read them with a JSON parser that keeps them exact.
- **Errors** are an \`Error\` object, whose \`status\` is the HTTP status. \`/docs/errors\` says what to do about each \`code\`.
- **Versions** of a resource have different \`ETag\`s. With \`If-Match\`, a change is made only if the \`ETag\` is still the same.
- **Limits** are reported in every response, in \`X-RateLimit-*\` and \`RateLimit\`. After a 429, wait for as long as \`Retry-After\` says.
- **Keys** are sent in \`X-API-Key\` or as a bearer token. Operations that anonymous callers may run need no key.`;
