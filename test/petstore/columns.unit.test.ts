import { gatewayDomains, type Services } from '../../src/app/domains';
import type { Table } from '../../src/database/reading/table';
import { buildSchema } from '../../src/graphql/schema';
import { ORDERS } from '../../src/petstore/model';

test('if a column of an Int field becomes a bigint, startup fails with an error that names the field and the column', () => {
  const quantity = { ...ORDERS.columns.quantity, kind: 'id', type: 'bigint' };
  const wide = { ...ORDERS, columns: { ...ORDERS.columns, quantity } } as Table<object>;
  const domains = gatewayDomains({} as Services);
  const tables = domains.tables.map((table) => (table.name === 'orders' ? wide : table));
  expect(() => buildSchema({ ...domains, subscribe: jest.fn(), tables })).toThrow(
    'Order.quantity is Int, but the column orders.quantity is of the kind id',
  );
});
