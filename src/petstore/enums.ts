import { PetStatus } from '../database/generated/enums';
import { describedEnum, enumOf } from '../graphql/enums';

export { PetStatus };

describedEnum(
  PetStatus,
  'PetStatus',
  'The status of a pet; `available` by default. It can change to any other status. Orders are limited by stock, not by the status.',
  { available: 'For sale; the default for new pets.', pending: 'Reserved for a customer.', sold: 'Sold.' },
);
export const PetSortField = enumOf('PetSortField', 'The fields by which pets can be sorted.', {
  ID: 'By id: the order of creation.',
  NAME: 'By name, in code point order; ties by id.',
});
export const CategorySortField = enumOf('CategorySortField', 'The fields by which categories can be sorted.', {
  ID: 'By id: the order of creation.',
  NAME: 'By name, in code point order; ties by id.',
});
export const OrderSortField = enumOf('OrderSortField', 'The fields by which orders can be sorted.', {
  ID: 'By id: the order of placement.',
  SHIP_DATE: 'By ship date; orders without a ship date come last, or first when descending.',
});
export const InventorySortField = enumOf('InventorySortField', 'The fields by which inventory entries can be sorted.', {
  PET_ID: 'By pet id.',
  QUANTITY: 'By stock count; ties by pet id.',
});
