import type { OpenAPIV3 } from 'openapi-types';
import type { Place } from './guides';

/** The search entries for all operations of the REST interface. */
export function placesInRest({ paths }: OpenAPIV3.Document): Place[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item ?? {}).flatMap(([method, operation]) => {
      if (typeof operation !== 'object' || !('operationId' in operation)) return [];
      const { operationId, tags = [], summary, description } = operation;
      return {
        kind: 'REST',
        title: `${method.toUpperCase()} ${path}`,
        within: tags[0] ?? '',
        text: `${summary}. ${description}`,
        href: `/docs/rest#${operationId}`,
      };
    }),
  );
}
