// Runs client tools on the schema and the OpenAPI document, and prints their results as JSON. Runs as a separate
// process, because Jest cannot load the tools, which are ES modules or programs. The argument is a directory that
// contains a copy of the files in clients/, schema.graphql and openapi.json.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import * as typedDocumentNode from '@graphql-codegen/typed-document-node';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import { buildSchema, parse } from 'graphql';
import openapiTS, { astToString } from 'openapi-typescript';

const [directory] = process.argv.slice(2);
const at = (...path) => join(directory, ...path);
const read = (name) => readFileSync(at(name), 'utf8');
const program = (name) => createRequire(import.meta.url).resolve(name);

/** Generates types and typed documents for the operations, as a frontend does. */
async function graphqlTypes() {
  const schema = buildSchema(read('schema.graphql'));
  const documents = [{ location: 'operations.graphql', document: parse(read('operations.graphql')) }];
  const config = { useTypeImports: true, scalars: { ID: 'string', DateTime: 'string' } };
  const info = { outputFile: 'graphql.ts' };
  const outputs = [
    await typescriptOperations.plugin(schema, documents, config, info),
    await typedDocumentNode.plugin(schema, documents, config, info),
  ];
  return [...outputs.flatMap(({ prepend }) => prepend), ...outputs.map(({ content }) => content)].join('\n');
}

/** Runs Relay's compiler on relay-operations.js. @returns its exit code, errors and generated files. */
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

/** Compiles the clients, with the generated types, into js/ unless there are type errors. @returns the errors. */
function typeFaults() {
  const { stdout } = spawnSync(process.execPath, [program('typescript/bin/tsc'), '-p', directory], {
    encoding: 'utf8',
  });
  return stdout.split('\n').filter(Boolean);
}

mkdirSync(at('generated'));
writeFileSync(at('generated', 'graphql.ts'), await graphqlTypes());
writeFileSync(at('generated', 'openapi.ts'), astToString(await openapiTS(read('openapi.json'))));
process.stdout.write(JSON.stringify({ types: typeFaults(), relay: relay() }));
