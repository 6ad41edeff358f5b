import { InMemoryCache } from '@apollo/client';
import { relayStylePagination } from '@apollo/client/utilities';

/** The cache keeps a separate list for each filter and sort order. */
const pages = relayStylePagination(['filter', 'orderBy']);

export const cache = new InMemoryCache({
  possibleTypes: { Node: ['Pet', 'Category', 'Order', 'InventoryItem'] },
  typePolicies: {
    Query: {
      fields: {
        pets: pages,
        categories: pages,
        orders: pages,
        inventory: pages,
        apiKeys: relayStylePagination(['search', 'isActive']),
        topCallers: { merge: false },
      },
    },
    Category: { fields: { pets: pages } },
    Pet: { fields: { orders: pages } },
    InventoryItem: { keyFields: ['petId'] },
    Viewer: { keyFields: [], fields: { usage: { merge: false } } },
    ApiKey: { fields: { usage: { merge: false } } },
    RateLimit: { merge: true },
  },
});
