import pg from 'pg';

/** The connection pool of the hand-written baselines, as large as the gateway's pool. */
export const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });

/** Runs a named statement, which PostgreSQL parses only once per connection (node-postgres, "Prepared statements"). */
export async function rows(name, text, values) {
  return (await pool.query({ name, text, values })).rows;
}

/** Runs `work` in one transaction on one client (node-postgres, "Transactions"). */
export async function transaction(work) {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}
