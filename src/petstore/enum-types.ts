import { registerEnumType } from 'type-graphql';
import { PetStatus, Plan, Scope } from '../database/generated/enums';
import { PLANS, type Quota } from '../rate-limit/plans';

export { PetStatus, Plan, Scope };

type Descriptions<Name extends string> = Readonly<Record<Name, string>>;

/** An enum of the schema. @param values what each of its values means. */
function enumOf<Name extends string>(name: string, description: string, values: Descriptions<Name>) {
  const names = Object.keys(values).map((each) => [each, each]);
  return registered(Object.fromEntries(names) as { readonly [value in Name]: value }, name, description, values);
}

function registered<Values extends object>(
  enumeration: Values,
  name: string,
  description: string,
  values: Descriptions<keyof Values & string>,
): Values {
  const described = Object.entries<string>(values).map(([value, meaning]) => [value, { description: meaning }]);
  registerEnumType(enumeration, { name, description, valuesConfig: Object.fromEntries(described) });
  return enumeration;
}

registered(
  PetStatus,
  'PetStatus',
  'The status of a pet; `available` unless given. Any status may follow any other. What limits orders is stock, not the status.',
  { available: 'For sale; the default for new pets.', pending: 'Reserved for somebody.', sold: 'Sold.' },
);
registered(Plan, 'Plan', 'A plan, which sets the quota of a caller.', {
  FREE: `${limitsOf(PLANS.FREE)} The plan of callers without a key.`,
  PRO: limitsOf(PLANS.PRO),
  BUSINESS: limitsOf(PLANS.BUSINESS),
  ENTERPRISE: 'Limits set per key.',
});

function limitsOf({ perMinute, perDay }: Quota): string {
  return `${perMinute.toLocaleString('en')} requests per minute, ${perDay.toLocaleString('en')} per day.`;
}

registered(Scope, 'Scope', 'What a caller may do.', {
  READ: 'Queries and subscriptions.',
  WRITE: 'Mutations of the store, and everything that READ allows.',
  ADMIN: 'API keys and bans, and everything that WRITE allows.',
});

export const ChangeKind = enumOf('ChangeKind', 'The kind of a change.', {
  CREATED: 'Created.',
  UPDATED: 'Written, possibly with the same values.',
  DELETED: 'Deleted.',
});
export const SortDirection = enumOf('SortDirection', 'A sort direction.', {
  ASC: 'Smallest first.',
  DESC: 'Largest first.',
});
export const PetSortField = enumOf('PetSortField', 'What pets can be sorted by.', {
  ID: 'By id: the order of creation.',
  NAME: 'By name, in code point order; ties by id.',
});
export const CategorySortField = enumOf('CategorySortField', 'What categories can be sorted by.', {
  ID: 'By id: the order of creation.',
  NAME: 'By name, in code point order; ties by id.',
});
export const OrderSortField = enumOf('OrderSortField', 'What orders can be sorted by.', {
  ID: 'By id: the order of placement.',
  SHIP_DATE: 'By ship date; orders without one come last, or first when descending.',
});
export const InventorySortField = enumOf('InventorySortField', 'What inventory entries can be sorted by.', {
  PET_ID: 'By pet id.',
  QUANTITY: 'By stock count; ties by pet id.',
});
export const CountRelation = enumOf('CountRelation', 'How a count relates to the number of items there are.', {
  EQUAL: 'There are as many.',
  AT_LEAST: 'There are more: they were not all counted.',
});
