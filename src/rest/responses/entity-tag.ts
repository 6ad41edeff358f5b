import { hash } from 'node:crypto';
import { type GraphQLObjectType, getNamedType, isLeafType } from 'graphql';
import { valuesOf } from './payload';
import { writerOf } from './payload-writer';

/** A strong validator of a body (RFC 9110, section 8.8.3). It protects nothing, so a fast hash will do. */
export function etagOf(body: string): string {
  return `"${hash('sha1', body, 'base64url')}"`;
}

/**
 * Whether an `If-None-Match` names the tag (RFC 9110, section 13.1.2: weak comparison). Tags are quoted and contain no
 * quotes, so the list need not be parsed.
 */
export function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch !== undefined && (ifNoneMatch.trim() === '*' || ifNoneMatch.includes(etag));
}

/** The `ETag` that a read of a resource would have. @param row as the domain has it. */
export type TagOf = (row: object) => string;

/** How resources of a type are tagged: their row is written as the body of a read is. */
export function tagsOf(type: GraphQLObjectType): TagOf {
  const fields = valuesOf(type).map(({ name, type: of }) => ({ name, leaf: getNamedType(of) }));
  const write = writerOf({ fields: valuesOf(type), isList: false });
  return (row) => {
    const values = row as Readonly<Record<string, unknown>>;
    const result = fields.map(({ name, leaf }) => {
      const value = values[name] ?? null;
      return [name, value !== null && isLeafType(leaf) ? leaf.serialize(value) : value];
    });
    return etagOf(write(Object.fromEntries(result)));
  };
}
