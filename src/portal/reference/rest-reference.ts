import type { OpenAPIV3 } from 'openapi-types';
import type { Catalogue } from '../../errors/codes';
import { type Describes, escaped, prose, type Row, rows } from '../html';
import { describedError } from './errors-html';
import { type Entry, type Part, referenceHtml } from './reference-page';
import { operationEntry, parameterRow, type Shared } from './rest-operation-html';
import { boundsHtml, nameOf, schemaHtml, typeHtml } from './rest-schema-html';
import { operationsOf, type ShownOperation } from './shown-operation';

type Document = OpenAPIV3.Document;
type Schemas = Readonly<Record<string, OpenAPIV3.SchemaObject>>;

/** `/docs/rest`: everything that the OpenAPI document says, on one page, with a form to try each operation. */
export function restReference(template: string, document: Document, errors: Catalogue): string {
  const { info, tags = [] } = document;
  const operations = operationsOf(document);
  const schemas = (document.components?.schemas ?? {}) as Schemas;
  const shared: Shared = { always: commonHeaders(operations), describes: describerOf(document, errors), errors };
  const { describes } = shared;
  const ofTag = (name: string) => operations.filter(({ operation }) => operation.tags?.includes(name));
  return referenceHtml(template, {
    title: 'REST reference',
    description: `Every REST operation of ${info.title} ${info.version}: parameters, responses, errors, headers.`,
    introduction: introduction(document, describes),
    example: 'order, ETag, 409…',
    parts: [
      ...tags.map(({ name, description = '' }): Part => {
        const entries = ofTag(name).map((shown) => operationEntry(shown, shared, examplesOf(shown, schemas)));
        return { id: name.toLowerCase(), title: name, lead: prose(description, describes), entries };
      }),
      { id: 'shared', title: 'Shared by operations', entries: sharedEntries(document, shared) },
      {
        id: 'schemas',
        title: 'Schemas',
        entries: Object.entries(schemas).map(([name, schema]) => ({
          id: name,
          label: escaped(name),
          title: escaped(name),
          body: schemaHtml(schema, describes),
        })),
      },
    ],
  });
}

function introduction({ info }: Document, describes: Describes): string {
  return `
    <p class="lead">Version ${escaped(info.version)} · <a href="/openapi.json">OpenAPI 3.0.3</a> ·
      guides: <a href="/docs/getting-started">Getting started</a>, <a href="/docs/rest-clients">REST clients</a>,
      <a href="/docs/limits">Limits</a>, <a href="/docs/idempotency">Retries</a></p>
    ${prose(info.description ?? '', describes)}
    <section class="key" aria-labelledby="key"><h2 id="key">Your key</h2>
      <p>What you try here is sent to this server, with this key if there is one.</p>
      <key-field></key-field></section>`;
}

/** Finds what a text names: an error, a schema, a header, a parameter, a page. */
function describerOf({ components = {} }: Document, errors: Catalogue): Describes {
  const parameters = Object.values(components.parameters ?? {}) as OpenAPIV3.ParameterObject[];
  const anchors = new Map([
    ...Object.keys(components.schemas ?? {}).map((name) => [name, `#${name}`] as const),
    ...parameters.map(({ name }) => [name, `#parameter-${name}`] as const),
    ...Object.keys(components.headers ?? {}).map((name) => [name, `#header-${name}`] as const),
    ['/docs/errors', '/docs/errors'] as const,
    ['X-API-Key', '#key'] as const,
  ]);
  return (code) => describedError(errors, code) ?? anchors.get(code);
}

/** The headers that every response has. */
function commonHeaders(operations: readonly ShownOperation[]): ReadonlySet<string> {
  const responses = operations.flatMap((each) => each.responses.map(([, response]) => response));
  const [first, ...others] = responses.map(({ headers = {} }) => Object.keys(headers));
  return new Set(first?.filter((name) => others.every((names) => names.includes(name))));
}

function examplesOf({ operation, responses }: ShownOperation, schemas: Schemas) {
  const exampleOf = (content: OpenAPIV3.RequestBodyObject['content'] = {}): unknown => {
    const { schema } = content['application/json'] ?? {};
    return schema && '$ref' in schema ? schemas[nameOf(schema)]?.example : undefined;
  };
  const body = operation.requestBody as OpenAPIV3.RequestBodyObject | undefined;
  const [, success] = responses.find(([status]) => Number(status) < 300) ?? [];
  return { body: exampleOf(body?.content), response: exampleOf(success?.content) };
}

/** Parameters and headers, each described once. */
function sharedEntries({ components = {} }: Document, { always, describes }: Shared): Entry[] {
  const parameters = Object.values(components.parameters ?? {}) as OpenAPIV3.ParameterObject[];
  const headers = Object.entries(components.headers ?? {}) as [string, OpenAPIV3.HeaderObject][];
  const entry = (id: string, title: string, text: string, list: readonly Row[]): Entry => ({
    id,
    label: title,
    title,
    body: `<p>${text}</p>${rows(list)}`,
  });
  return [
    entry(
      'parameters',
      'Parameters and request headers',
      'Operations that take them name them.',
      parameters.map((each) => ({
        ...parameterRow({ ...each, isShared: true }, describes),
        id: `parameter-${each.name}`,
      })),
    ),
    entry(
      'headers-of-every-response',
      'Headers of every response',
      'Whatever its status.',
      headers.filter(([name]) => always.has(name)).map((each) => headerRow(each, describes)),
    ),
    entry(
      'headers-of-some-responses',
      'Headers of some responses',
      'Operations that send them name them. Errors bring <code>Link</code> to their description, a 401 <code>WWW-Authenticate</code>, a 429 and a 503 <code>Retry-After</code>.',
      headers.filter(([name]) => !always.has(name)).map((each) => headerRow(each, describes)),
    ),
  ];
}

function headerRow(
  [name, { description = '', schema = {}, example }]: [string, OpenAPIV3.HeaderObject],
  describes: Describes,
): Row {
  const shown = example === undefined ? '' : `<p class="bounds"><code>${escaped(String(example))}</code></p>`;
  const bounds = 'enum' in schema ? boundsHtml(schema) : shown;
  return {
    id: `header-${name}`,
    name,
    type: typeHtml(schema),
    text: prose(`${description}.`, describes) + bounds,
  };
}
