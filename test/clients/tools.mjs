// What the tools of clients say of the schema and of the OpenAPI document, as JSON. Most are ES modules, or programs of
// their own: none of that does Jest load. Arguments: a directory with schema.graphql, openapi.json and operations/.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { codegen } from '@graphql-codegen/core';
import * as typedDocumentNode from '@graphql-codegen/typed-document-node';
import * as typescript from '@graphql-codegen/typescript';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import graphqlEslint from '@graphql-eslint/eslint-plugin';
import { ESLint } from 'eslint';
import { parse } from 'graphql';
import openapiTS, { astToString } from 'openapi-typescript';

const [directory] = process.argv.slice(2);
const at = (name) => join(directory, name);
const read = (name) => readFileSync(at(name), 'utf8');

async function graphqlCodegen() {
  const operations = parse(read('operations.graphql'));
  return codegen({
    filename: 'graphql.ts',
    schema: parse(read('schema.graphql')),
    documents: [{ location: 'operations.graphql', document: operations }],
    config: { useTypeImports: true, scalars: { ID: 'string', DateTime: 'string' } },
    plugins: [{ typescript: {} }, { typescriptOperations: {} }, { typedDocumentNode: {} }],
    pluginMap: { typescript, typescriptOperations, typedDocumentNode },
  });
}

async function lint() {
  const eslint = new ESLint({
    cwd: directory,
    overrideConfigFile: true,
    overrideConfig: [
      {
        files: ['*.graphql'],
        plugins: { '@graphql-eslint': graphqlEslint },
        languageOptions: {
          parser: graphqlEslint.parser,
          parserOptions: { graphQLConfig: { schema: at('schema.graphql') } },
        },
        rules: {
          ...graphqlEslint.configs['flat/schema-recommended'].rules,
          ...graphqlEslint.configs['flat/schema-relay'].rules,
        },
      },
    ],
  });
  const [result] = await eslint.lintFiles(['schema.graphql']);
  return result.messages.map(({ ruleId, message, line }) => `${ruleId} ${line}: ${message}`);
}

const started = performance.now();
const t = (n, v) => { console.error(n, Math.round(performance.now() - started)); return v; };
writeFileSync(at('graphql.ts'), await graphqlCodegen()); t('codegen');
writeFileSync(at('openapi.ts'), astToString(await openapiTS(read('openapi.json')))); t('openapi');
const faults = await lint(); t('eslint');
console.log(JSON.stringify(faults, null, 1));
