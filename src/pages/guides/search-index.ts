import type { GraphQLSchema } from 'graphql';
import type { OpenAPIV3 } from 'openapi-types';
import { ERROR_CODES, ERRORS } from '../../errors/error-codes';
import { helpOf } from '../../errors/help';
import { operationsOf } from '../reference/rest/shown-operation';
import type { Library } from './library';

/** One place that the search finds. The browser indexes all of them when the search is first opened. */
export interface Found {
  /** What kind of place it is: `Guide`, `REST`, `GraphQL` or `Error`. */
  readonly kind: string;
  readonly title: string;
  /** What it is part of: a page, a tag, a type. */
  readonly within: string;
  readonly text: string;
  readonly href: string;
}

/** Every section of the guides, every operation of both interfaces, every error. */
export function searchIndex(library: Library, document: OpenAPIV3.Document, schema: GraphQLSchema): Found[] {
  return [...inGuides(library), ...inRest(document), ...inGraphql(schema), ...inErrors()];
}

function inGuides({ guides }: Library): Found[] {
  return guides.flatMap(({ title, href, parsed }) =>
    parsed().sections.map(({ level, id, text, content }) => ({
      kind: 'Guide',
      title: text,
      within: level === 1 ? '' : title,
      text: content,
      href: level === 1 ? href : `${href}#${id}`,
    })),
  );
}

function inRest(document: OpenAPIV3.Document): Found[] {
  return operationsOf(document).map(({ method, path, operation }) => ({
    kind: 'REST',
    title: `${method} ${path}`,
    within: operation.tags?.[0] ?? '',
    text: `${operation.summary} ${operation.description}`,
    href: `/docs/rest#${operation.operationId}`,
  }));
}

function inGraphql(schema: GraphQLSchema): Found[] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  return roots.flatMap((root) =>
    Object.values(root?.getFields() ?? {}).map(({ name, description }) => ({
      kind: 'GraphQL',
      title: name,
      within: String(root?.name),
      text: description ?? '',
      href: `/docs/graphql#${root?.name}.${name}`,
    })),
  );
}

function inErrors(): Found[] {
  return ERROR_CODES.map((code) => {
    const { status, why, fix } = ERRORS[code];
    return { kind: 'Error', title: code, within: String(status), text: `${why} ${fix}`, href: helpOf(code) };
  });
}
