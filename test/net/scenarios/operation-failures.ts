import { Client } from 'pg';
import { type Scenario, until } from '../scenario';

export const scenarios: Scenario[] = [
  {
    name: 'operation masked errors',
    only: 'postgres',
    run: async (net) => {
      await net.shop();
      const client = new Client({ connectionString: net.server.databaseUrl });
      await client.connect();
      await client.query('alter table inventory rename to stock');
      await client.end();
      await net.rest('GET /store/inventory/1');
      await net.rest('PUT /store/inventory/1', { body: { quantity: 1 } });
      await net.rest('DELETE /store/inventory/1', { headers: { 'x-request-id': 'mine' } });
      await net.graphql('{ inventoryItem(petId: 1) { quantity } pet(id: 1) { name } }');
      await net.graphql('{ pet(id: 1) { name inventory { quantity } } }');
      await net.graphql('mutation { placeOrder(input: { petId: 1, quantity: 1 }) { id } }');
    },
  },
  {
    name: 'operation retries',
    only: 'postgres',
    run: async (net) => {
      await net.shop();
      const client = new Client({ connectionString: net.server.databaseUrl });
      await client.connect();
      // This connection checks for deadlocks only after 60 s. So the gateway's connection detects the deadlock first,
      // and PostgreSQL rolls back the gateway's transaction.
      await client.query("set deadlock_timeout = '60s'");
      await client.query('begin');
      await client.query('select from inventory where pet_id = 1 for update');
      const changed = net.exchange('PATCH', '/store/orders/1', { body: { quantity: 3 } });
      await until(async () => {
        const { rows } = await client.query('select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))', [
          (await client.query('select pg_backend_pid() as pid')).rows[0].pid,
        ]);
        return rows.length > 0;
      });
      await client.query('select from orders where id = 1 for update');
      await client.query('commit');
      await client.end();
      const { status, text } = await changed;
      net.note('an order is changed although its transaction was rolled back by a deadlock', `${status} ${text}`);
      await net.rest('GET /store/inventory/1');
    },
  },
];
