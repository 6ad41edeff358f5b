// What linters find in the OpenAPI document on standard input, as JSON. They are ES modules, which Jest does not load.
import { text } from 'node:stream/consumers';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral from '@stoplight/spectral-core';
import owasp from '@stoplight/spectral-owasp-ruleset';

const ERROR = 0;
const source = await text(process.stdin);

const config = await createConfig({ extends: ['recommended'] });
const redocly = await lintFromString({ source, absoluteRef: '/openapi.json', config });

const linter = new spectral.Spectral();
linter.setRuleset({
  extends: [owasp],
  rules: {
    // The specification has int64 ids.
    'owasp:api1:2023-no-numeric-ids': 'off',
    // It requires one of two families of headers, and takes both for neither; openapi.test.ts requires both.
    'owasp:api4:2023-rate-limit': 'off',
  },
});
const found = await linter.run(JSON.parse(source));

process.stdout.write(
  JSON.stringify({
    redocly: redocly.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`),
    owasp: found.filter(({ severity }) => severity === ERROR).map(({ code, path }) => `${code} ${path.join('.')}`),
  }),
);
