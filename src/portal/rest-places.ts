import type { OpenAPIV3 } from 'openapi-types';
import { type Found, listed } from './found';
import { operationsOf } from './reference/shown-operation';

/** What the search finds in `/docs/rest`: operations, parameters, headers and schemas with their fields. */
export function restPlaces(document: OpenAPIV3.Document): Found[] {
  const { schemas = {}, parameters = {}, headers = {} } = document.components ?? {};
  const place = (title: string, within: string, text: string, id: string): Found => ({
    kind: 'REST',
    title,
    within,
    text,
    href: `/docs/rest#${id}`,
  });
  const operations = operationsOf(document).map(({ method, path, operation, parameters: given }) => {
    const { tags = [], summary, description, operationId = '' } = operation;
    const names = given.map(({ name }) => name);
    const text = `${summary}. ${description} ${listed('Parameters', names)}`;
    return place(`${method} ${path}`, tags[0] ?? '', text, operationId);
  });
  return [
    ...operations,
    ...Object.values(parameters as Record<string, OpenAPIV3.ParameterObject>).map(({ name, description = '' }) =>
      place(name, 'Parameters', description, `parameter-${name}`),
    ),
    ...Object.entries(headers as Record<string, OpenAPIV3.HeaderObject>).map(([name, { description = '' }]) =>
      place(name, 'Headers', description, `header-${name}`),
    ),
    ...Object.entries(schemas as Record<string, OpenAPIV3.SchemaObject>).map(([name, schema]) =>
      place(
        name,
        'Schemas',
        `${schema.description ?? ''} ${listed('Fields', Object.keys(schema.properties ?? {}))}`,
        name,
      ),
    ),
  ];
}
