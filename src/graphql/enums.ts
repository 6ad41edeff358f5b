import { registerEnumType } from 'type-graphql';
import { PetStatus, Plan, Scope } from '../database/generated/enums';

export { PetStatus, Plan, Scope };

export const ChangeKind = { CREATED: 'CREATED', UPDATED: 'UPDATED', DELETED: 'DELETED' } as const;
export const OrderDirection = { ASC: 'ASC', DESC: 'DESC' } as const;
export const PetOrderField = { ID: 'ID', NAME: 'NAME' } as const;
export const CategoryOrderField = { ID: 'ID', NAME: 'NAME' } as const;
export const OrderOrderField = { ID: 'ID', SHIP_DATE: 'SHIP_DATE' } as const;
export const InventoryOrderField = { PET_ID: 'PET_ID', QUANTITY: 'QUANTITY' } as const;

registerEnumType(PetStatus, {
  name: 'PetStatus',
  description: 'The status of a pet. Any status may follow any other.',
  valuesConfig: {
    available: { description: 'Can be ordered. A pet that is created without a status is available.' },
    pending: { description: 'Spoken for.' },
    sold: { description: 'Gone to a new home.' },
  },
});
registerEnumType(OrderDirection, {
  name: 'OrderDirection',
  description: 'Which end of an order comes first.',
  valuesConfig: { ASC: { description: 'Smallest first.' }, DESC: { description: 'Largest first.' } },
});
registerEnumType(PetOrderField, {
  name: 'PetOrderField',
  description: 'What pets can be ordered by.',
  valuesConfig: {
    ID: { description: 'The order of creation.' },
    NAME: { description: 'By name, code point by code point; pets of one name by id.' },
  },
});
registerEnumType(CategoryOrderField, {
  name: 'CategoryOrderField',
  description: 'What categories can be ordered by.',
  valuesConfig: {
    ID: { description: 'The order of creation.' },
    NAME: { description: 'By name, code point by code point; categories of one name by id.' },
  },
});
registerEnumType(OrderOrderField, {
  name: 'OrderOrderField',
  description: 'What orders can be ordered by.',
  valuesConfig: {
    ID: { description: 'The order of placing.' },
    SHIP_DATE: { description: 'By ship date; orders without one are the largest.' },
  },
});
registerEnumType(InventoryOrderField, {
  name: 'InventoryOrderField',
  description: 'What stock can be ordered by.',
  valuesConfig: {
    PET_ID: { description: 'By pet.' },
    QUANTITY: { description: 'By stock count; entries of one count by pet.' },
  },
});
registerEnumType(ChangeKind, {
  name: 'ChangeKind',
  description: 'What has happened to something.',
  valuesConfig: {
    CREATED: { description: 'It is new.' },
    UPDATED: { description: 'It has been written; perhaps nothing is other than it was.' },
    DELETED: { description: 'It is gone.' },
  },
});
registerEnumType(Plan, {
  name: 'Plan',
  description: 'What a caller may use up.',
  valuesConfig: {
    FREE: { description: '60 requests a minute, 1,000 a day. Callers without a key have it.' },
    PRO: { description: '300 requests a minute, 10,000 a day.' },
    BUSINESS: { description: '1,000 requests a minute, 100,000 a day.' },
    ENTERPRISE: { description: "The key's own two numbers." },
  },
});
registerEnumType(Scope, {
  name: 'Scope',
  description: 'What a caller may do.',
  valuesConfig: {
    READ: { description: 'Queries.' },
    WRITE: { description: 'Mutations of the store, and all that READ allows.' },
    ADMIN: { description: 'API keys and bans, and all that WRITE allows.' },
  },
});
