// Drops the databases that a run has created on a server.
const { Client } = require('pg');

async function drop({ TEST_DATABASE_URL: connectionString, TEST_DATABASE_PREFIX: prefix }) {
  const client = new Client({ connectionString });
  await client.connect();
  const named = await client.query('select datname from pg_database where starts_with(datname, $1)', [prefix]);
  for (const { datname } of named.rows) await client.query(`drop database ${datname} with (force)`);
  await client.end();
}

void drop(process.env);
