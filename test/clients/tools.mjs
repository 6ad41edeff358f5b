// What client tools say about the schema and the OpenAPI document, as JSON. The tools are ES modules or separate programs,
// which Jest cannot load. The argument is a copy of app/ with schema.graphql and openapi.json beside it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { codegen } from '@graphql-codegen/core';
import * as typedDocumentNode from '@graphql-codegen/typed-document-node';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import graphqlEslint from '@graphql-eslint/eslint-plugin';
import { ESLint } from 'eslint';
import { parse } from 'graphql';
import openapiTS, { astToString } from 'openapi-typescript';

const [directory] = process.argv.slice(2);
const at = (...path) => join(directory, ...path);
const read = (name) => readFileSync(at(name), 'utf8');
const program = (name) => createRequire(import.meta.url).resolve(name);

/** Types and typed documents of the operations, as a frontend has them. */
async function graphqlTypes() {
  return codegen({
    filename: 'graphql.ts',
    schema: parse(read('schema.graphql')),
    documents: [{ location: 'operations.graphql', document: parse(read('operations.graphql')) }],
    config: { useTypeImports: true, scalars: { ID: 'string', DateTime: 'string' } },
    plugins: [{ typescriptOperations: {} }, { typedDocumentNode: {} }],
    pluginMap: { typescriptOperations, typedDocumentNode },
  });
}

const ACCEPTED = [
  // Unreachable until something is deprecated.
  'Directive `sunset` is unreachable.',
  // `Node` is Relay's name, and `id` is the number that each type has of its own.
  'Field "nodeId" starts with the name of the parent type "Node"',
];

/** Findings of graphql-eslint's recommended schema rules, and of its Relay rules. @param schema the name of its file. */
async function schemaFaults(schema) {
  const { 'flat/schema-recommended': recommended, 'flat/schema-relay': relay } = graphqlEslint.configs;
  const [severity, naming] = recommended.rules['@graphql-eslint/naming-convention'];
  const eslint = new ESLint({
    cwd: directory,
    overrideConfigFile: true,
    overrideConfig: {
      files: ['*.graphql'],
      plugins: { '@graphql-eslint': graphqlEslint },
      languageOptions: {
        parser: graphqlEslint.parser,
        parserOptions: { graphQLConfig: { schema: at(schema) } },
      },
      rules: {
        ...recommended.rules,
        ...relay.rules,
        // The specification has the values of PetStatus in lower case.
        '@graphql-eslint/naming-convention': [
          severity,
          {
            ...naming,
            EnumValueDefinition: { style: 'UPPER_CASE', ignorePattern: '^(available|pending|sold)$' },
          },
        ],
        // Types that are not shop objects have no id, and a pet's stock has the pet's.
        '@graphql-eslint/strict-id-in-types': [
          'error',
          {
            acceptedIdNames: ['id', 'petId', 'orderId'],
            exceptions: {
              types: ['PageInfo', 'CreatedApiKey', 'RateLimit', 'RateLimitWindow', 'Viewer', 'UsageDay', 'CallerUsage'],
              suffixes: ['Connection', 'Edge'],
            },
          },
        ],
        '@graphql-eslint/require-description': ['error', { types: true, rootField: true, DirectiveDefinition: true }],
        // API keys page forward only.
        '@graphql-eslint/relay-arguments': ['error', { includeBoth: false }],
        // Keys are no nodes, and some lists are not connections: scopes, windows.
        '@graphql-eslint/relay-edge-types': [
          'error',
          { withEdgeSuffix: true, shouldImplementNode: false, listTypeCanWrapOnlyEdgeType: false },
        ],
      },
    },
  });
  const [result] = await eslint.lintFiles([schema]);
  const found = result.messages.filter(({ message }) => !ACCEPTED.includes(message));
  return found.map(({ ruleId, message, line }) => `${ruleId} ${line}: ${message}`);
}

/** What Relay's compiler generates from relay-operations.js, and its output. */
function relay() {
  const config = {
    src: './relay',
    schema: './schema.graphql',
    language: 'javascript',
    artifactDirectory: './relay/made',
    schemaConfig: { nodeInterfaceIdField: 'nodeId' },
    eagerEsModules: false,
    excludes: [],
  };
  mkdirSync(at('relay', 'made'), { recursive: true });
  writeFileSync(at('relay', 'package.json'), '{ "type": "commonjs" }');
  writeFileSync(at('relay', 'relayOperations.js'), read('relay-operations.js'));
  writeFileSync(at('relay.config.json'), JSON.stringify(config));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program('relay-compiler/cli.js'), 'relay.config.json'],
    {
      cwd: directory,
      encoding: 'utf8',
    },
  );
  return { status, said: status ? stdout + stderr : '', made: readdirSync(at('relay', 'made')).sort() };
}

/** What TypeScript says about the clients with the generated types. If it finds no fault, it compiles them into js/. */
function typeFaults() {
  const { stdout } = spawnSync(process.execPath, [program('typescript/bin/tsc'), '-p', directory], {
    encoding: 'utf8',
  });
  return stdout.split('\n').filter(Boolean);
}

mkdirSync(at('generated'));
writeFileSync(at('generated', 'graphql.ts'), await graphqlTypes());
writeFileSync(at('generated', 'openapi.ts'), astToString(await openapiTS(read('openapi.json'))));
// A schema that breaks rules, to see that they are on: a name, a description, a page.
const broken = read('schema.graphql')
  .replace('  pets(', '  get_pets(')
  .replace('"""A sort direction."""', '')
  .replace('pageInfo: PageInfo!', 'page: PageInfo!');
writeFileSync(at('broken.graphql'), broken);
const [schema, found] = [await schemaFaults('schema.graphql'), await schemaFaults('broken.graphql')];
process.stdout.write(JSON.stringify({ types: typeFaults(), schema, found, relay: relay() }));
