import { registerEnumType } from 'type-graphql';
import { PetStatus, Plan, Scope } from '../database/generated/enums';

export { PetStatus, Plan, Scope };

export const ChangeKind = { CREATED: 'CREATED', UPDATED: 'UPDATED', DELETED: 'DELETED' } as const;
export const SortDirection = { ASC: 'ASC', DESC: 'DESC' } as const;
export const PetSortField = { ID: 'ID', NAME: 'NAME' } as const;
export const CategorySortField = { ID: 'ID', NAME: 'NAME' } as const;
export const OrderSortField = { ID: 'ID', SHIP_DATE: 'SHIP_DATE' } as const;
export const InventorySortField = { PET_ID: 'PET_ID', QUANTITY: 'QUANTITY' } as const;

export const CountRelation = { EQUAL: 'EQUAL', AT_LEAST: 'AT_LEAST' } as const;

registerEnumType(PetStatus, {
  name: 'PetStatus',
  description:
    'The status of a pet; `available` unless given. Any status may follow any other. What limits orders is stock, not the status.',
  valuesConfig: {
    available: { description: 'For sale; the default for new pets.' },
    pending: { description: 'Reserved for somebody.' },
    sold: { description: 'Sold.' },
  },
});
registerEnumType(SortDirection, {
  name: 'SortDirection',
  description: 'A sort direction.',
  valuesConfig: { ASC: { description: 'Smallest first.' }, DESC: { description: 'Largest first.' } },
});
registerEnumType(PetSortField, {
  name: 'PetSortField',
  description: 'What pets can be sorted by.',
  valuesConfig: {
    ID: { description: 'By id: the order of creation.' },
    NAME: { description: 'By name, in code point order; ties by id.' },
  },
});
registerEnumType(CategorySortField, {
  name: 'CategorySortField',
  description: 'What categories can be sorted by.',
  valuesConfig: {
    ID: { description: 'By id: the order of creation.' },
    NAME: { description: 'By name, in code point order; ties by id.' },
  },
});
registerEnumType(OrderSortField, {
  name: 'OrderSortField',
  description: 'What orders can be sorted by.',
  valuesConfig: {
    ID: { description: 'By id: the order of placement.' },
    SHIP_DATE: { description: 'By ship date; orders without one come last, or first when descending.' },
  },
});
registerEnumType(InventorySortField, {
  name: 'InventorySortField',
  description: 'What inventory entries can be sorted by.',
  valuesConfig: {
    PET_ID: { description: 'By pet id.' },
    QUANTITY: { description: 'By stock count; ties by pet id.' },
  },
});
registerEnumType(CountRelation, {
  name: 'CountRelation',
  description: 'How a count relates to the number of items there are.',
  valuesConfig: {
    EQUAL: { description: 'There are as many.' },
    AT_LEAST: { description: 'There are more: they were not all counted.' },
  },
});
registerEnumType(ChangeKind, {
  name: 'ChangeKind',
  description: 'The kind of a change.',
  valuesConfig: {
    CREATED: { description: 'Created.' },
    UPDATED: { description: 'Written, possibly with the same values.' },
    DELETED: { description: 'Deleted.' },
  },
});
registerEnumType(Plan, {
  name: 'Plan',
  description: 'A plan, which sets the quota of a caller.',
  valuesConfig: {
    FREE: { description: '60 requests per minute, 1,000 per day. The plan of callers without a key.' },
    PRO: { description: '300 requests per minute, 10,000 per day.' },
    BUSINESS: { description: '1,000 requests per minute, 100,000 per day.' },
    ENTERPRISE: { description: 'Limits set per key.' },
  },
});
registerEnumType(Scope, {
  name: 'Scope',
  description: 'What a caller may do.',
  valuesConfig: {
    READ: { description: 'Queries and subscriptions.' },
    WRITE: { description: 'Mutations of the store, and everything that READ allows.' },
    ADMIN: { description: 'API keys and bans, and everything that WRITE allows.' },
  },
});
