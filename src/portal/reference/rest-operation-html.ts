import type { OpenAPIV3 } from 'openapi-types';
import type { Catalogue } from '../../errors/codes';
import { badge, type Describes, escaped, prose, type Row, rows } from '../html';
import { errorList } from './errors-html';
import type { Entry } from './reference-page';
import { boundsHtml, exampleHtml, typeHtml } from './rest-schema-html';
import { tryHtml } from './rest-try-html';
import type { ShownOperation, ShownParameter } from './shown-operation';

/** What operations share. */
export interface Shared {
  readonly errors: Catalogue;
  /** Headers that every response has. */
  readonly always: ReadonlySet<string>;
  readonly describes: Describes;
}

/** `undefined` where there is none. */
interface Examples {
  readonly body: unknown;
  readonly response: unknown;
}

/** An operation on the page, with an example of its body and of its response. */
export function operationEntry(
  shown: ShownOperation,
  { always, describes, errors }: Shared,
  examples: Examples,
): Entry {
  const { method, path, operation, parameters } = shown;
  const { operationId = '', summary = '', description = '', deprecated } = operation;
  const badges = [
    ...(deprecated ? [`deprecated · sunset ${operation['x-sunset']}`] : []),
    ...(operation['x-stability'] ? [operation['x-stability']] : []),
  ];
  const verb = `<span class="verb" data-verb="${method}">${method}</span>`;
  return {
    id: operationId,
    label: `${verb} ${escaped(summary)}`,
    title: escaped(summary),
    body: [
      `<p class="route">${verb} <code>${escaped(path)}</code>${badges.map(badge).join('')}</p>`,
      prose(description, describes),
      titled(
        'Parameters',
        rows(parameters.filter(({ isShared }) => !isShared).map((each) => parameterRow(each, describes))),
      ),
      sharedHtml(parameters),
      bodyHtml(operation.requestBody),
      titled('Responses', responsesHtml(shown, always) + exampleHtml(examples.response)),
      titled('Errors', errorList(errors, codesOf(shown))),
      tryHtml(shown, examples.body),
    ].join(''),
  };
}

function titled(title: string, html: string): string {
  return html && `<h4>${title}</h4>${html}`;
}

/** A parameter or a request header. */
export function parameterRow(parameter: ShownParameter, describes: Describes): Row {
  const { name, required, description = '', schema = {} } = parameter;
  const stability = parameter['x-stability'];
  return {
    name,
    type: `${typeHtml(schema)}, ${PLACES[parameter.in] ?? parameter.in}`,
    text: prose(description, describes) + boundsHtml(schema),
    badges: [...(required ? ['required'] : []), ...(stability ? [stability] : [])],
  };
}

const PLACES: Readonly<Record<string, string>> = { path: 'in the path', query: 'in the query', header: 'a header' };

function sharedHtml(parameters: readonly ShownParameter[]): string {
  const links = parameters
    .filter(({ isShared }) => isShared)
    .map(({ name }) => `<a href="#parameter-${name}"><code>${name}</code></a>`);
  return links.length ? `<p class="shared">As other operations: ${links.join(', ')}.</p>` : '';
}

function bodyHtml(body: ShownOperation['operation']['requestBody']): string {
  if (!body || '$ref' in body) return '';
  const types = Object.keys(body.content);
  const [{ schema = {} } = {}] = Object.values(body.content);
  const media = types.map((type) => `<code>${type}</code>`).join(' or ');
  return `<h4>Body</h4><p>${typeHtml(schema)}, as ${media}. ${escaped(body.description ?? '')}</p>`;
}

function responsesHtml({ responses }: ShownOperation, always: ReadonlySet<string>): string {
  const successes = responses.filter(([status]) => Number(status) < 400);
  return rows(
    successes.map(([status, { description, headers = {}, content }]) => {
      const [{ schema } = {}] = Object.values(content ?? {}) as OpenAPIV3.MediaTypeObject[];
      const own = Object.keys(headers).filter((name) => !always.has(name));
      const links = own.map((name) => `<a href="#header-${name}"><code>${name}</code></a>`).join(', ');
      const text = `<p>${escaped(description)}${links && ` Headers: ${links}.`}</p>`;
      return { name: status, type: schema ? typeHtml(schema) : 'no body', text };
    }),
  );
}

function codesOf({ responses }: ShownOperation): string[] {
  return responses
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([, { content }]) => Object.keys(content?.['application/json']?.examples ?? {}));
}
