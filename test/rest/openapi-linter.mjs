// What Redocly's recommended rules find in the OpenAPI document on standard input, as JSON. It is an ES module, which Jest
// does not load.
import { text } from 'node:stream/consumers';
import { createConfig, lintFromString } from '@redocly/openapi-core';

const config = await createConfig({ extends: ['recommended'] });
const found = await lintFromString({ source: await text(process.stdin), absoluteRef: '/openapi.json', config });
process.stdout.write(
  JSON.stringify(found.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`)),
);
