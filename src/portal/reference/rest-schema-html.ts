import { stringify as exactJson } from 'lossless-json';
import type { OpenAPIV3 } from 'openapi-types';
import { type Describes, escaped, prose, type Row, rows } from '../html';

export type SchemaOrRef = OpenAPIV3.SchemaObject | OpenAPIV3.ReferenceObject;

/** The name of a schema, parameter, header or response that a reference refers to. */
export function nameOf({ $ref }: OpenAPIV3.ReferenceObject): string {
  return $ref.slice($ref.lastIndexOf('/') + 1);
}

/** The type of a value, as HTML: a link for what has a name. */
export function typeHtml(schema: SchemaOrRef): string {
  if ('$ref' in schema) return `<a href="#${nameOf(schema)}">${nameOf(schema)}</a>`;
  if (schema.type === 'array') return `list of ${typeHtml(schema.items)}`;
  const { type = 'object', format } = schema;
  return escaped(format ? `${type} (${format})` : type);
}

/** The bounds of a value, as a sentence of HTML; empty if there are none. */
export function boundsHtml(schema: SchemaOrRef): string {
  if ('$ref' in schema) return '';
  const { minLength, maxLength, enum: values } = schema;
  const facts = [
    values && `one of ${values.map(code).join(', ')}`,
    range(schema),
    maxLength !== undefined &&
      (minLength ? `${minLength} to ${maxLength} characters` : `at most ${maxLength} characters`),
    schema.default !== undefined && `by default ${code(schema.default)}`,
    schema.nullable && '<code>null</code> clears it',
    schema.readOnly && 'assigned by the service',
  ].filter(Boolean);
  if (!facts.length) return '';
  const sentence = facts.join('; ');
  return `<p class="bounds">${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.</p>`;
}

function range({ minimum, maximum, format }: OpenAPIV3.SchemaObject): string | undefined {
  if (minimum === undefined) return undefined;
  return format === 'int64' || maximum === undefined ? `at least ${minimum}` : `${minimum} to ${maximum}`;
}

const code = (value: unknown) => `<code>${escaped(String(value))}</code>`;

/** A value as indented JSON, with exact integers. */
export function jsonText(value: unknown): string {
  return exactJson(value, null, 2) ?? '';
}

/** A value as a block of code; empty without one. */
export function exampleHtml(value: unknown): string {
  return value === undefined ? '' : `<pre><code>${escaped(jsonText(value))}</code></pre>`;
}

/** The description of a named schema. */
export function schemaHtml(schema: OpenAPIV3.SchemaObject, describes: Describes): string {
  const { description = '', properties = {}, required = [], example } = schema;
  const fields = Object.entries(properties).map(([name, property]): Row => {
    const text = 'description' in property ? (property.description ?? '') : '';
    const badges = required.includes(name) ? ['required'] : [];
    return { name, type: typeHtml(property), text: prose(text, describes) + boundsHtml(property), badges };
  });
  const items = schema.type === 'array' ? `<p>A ${typeHtml(schema)}.</p>` : '';
  const values = schema.enum ? boundsHtml(schema) : '';
  const shown = example === undefined || schema.enum ? '' : `<h4>Example</h4>${exampleHtml(example)}`;
  return prose(description, describes) + items + values + rows(fields) + shown;
}
