import { buildSubgraphSchema } from '@apollo/subgraph';
import {
  concatAST,
  type GraphQLField,
  type GraphQLObjectType,
  GraphQLScalarType,
  type GraphQLSchema,
  graphqlSync,
  parse,
} from 'graphql';
import { Arg, Ctx, createUnionType, Field, ObjectType, Query, Resolver } from 'type-graphql';
import { badInput, type Fault, OperationRejection, type ProblemError } from '../errors/errors';
import { MISSING, notOfForm, tooLong } from '../errors/input-checks';
import { MAX_PAGE } from '../graphql/connection';
import type { Context } from '../graphql/context';
import { Sized, WEIGHTS, Weighs, weighText } from '../graphql/cost-directives';
import { Errors, RateLimited, RequiresScope } from '../graphql/directives';
import type { TypedRow } from '../graphql/node';
import { printed } from '../graphql/printed-schema';
import { type AnyId, Id, idFault, NOT_AN_ID } from '../graphql/scalars';
import { buildSchema, type SchemaParts } from '../graphql/schema';
import { SelectedByType } from '../graphql/selected';
import { findRows, NODE_TYPES, type NodeType, type RowReference, type SelectionOf } from './nodes';
import { Category, InventoryItem, Order, Pet } from './types';

/** The key field (`@key`) of each entity type. Other subgraphs refer to an entity by its key. */
const KEYS: Readonly<Record<NodeType, string>> = {
  Pet: 'id',
  Category: 'id',
  Order: 'id',
  InventoryItem: 'petId',
};

/**
 * Reads the type and key of a representation of an entity. Other fields are ignored.
 * @returns the reference, or the error if the representation has no valid type or key.
 */
function referenceIn(representation: unknown, index: number): RowReference | ProblemError {
  const { __typename, ...fields } = (representation ?? {}) as Readonly<Record<string, unknown>>;
  const invalid = (field: string, fault: Fault) => badInput({ path: `representations.${index}.${field}`, ...fault });
  if ((__typename ?? null) === null) return invalid('__typename', MISSING);
  const type = NODE_TYPES.find((each) => each === __typename);
  if (!type) return invalid('__typename', notOfForm(`one of ${NODE_TYPES.join(', ')}`));
  const key = KEYS[type];
  if ((fields[key] ?? null) === null) return invalid(key, MISSING);
  const id = parseId(fields[key]);
  return typeof id === 'bigint' ? { type, id } : invalid(key, idFault(id) ?? NOT_AN_ID);
}

function parseId(value: unknown): AnyId | undefined {
  try {
    return Id.parseValue(value);
  } catch {
    return undefined;
  }
}

const Representation = new GraphQLScalarType({
  name: '_Any',
  description: 'A representation of an entity: its `__typename`, and its key.',
});

const Entity = createUnionType({
  name: '_Entity',
  description: 'A type that other subgraphs can refer to by its key.',
  types: () => [Pet, Category, Order, InventoryItem] as const,
  resolveType: (row: object) => (row as TypedRow).__typename,
});

@ObjectType('_Service', { simpleResolvers: true, description: 'This subgraph.' })
class SubgraphService {
  @Field(() => String, { description: 'The schema with its keys, from which a supergraph is composed.' })
  sdl!: string;
}

/** Resolves `_service` and `_entities`, the root fields of a subgraph (Apollo Federation subgraph specification). */
@Resolver()
class EntityResolver {
  constructor(private readonly sdl: string) {}

  @Query(() => SubgraphService, { description: 'This subgraph, for composition. Uses no quota.' })
  _service(): SubgraphService {
    return { sdl: this.sdl };
  }

  @RateLimited()
  @RequiresScope('READ')
  @Errors('BAD_USER_INPUT')
  @Weighs(WEIGHTS.references)
  @Sized('representations')
  @Query(() => [Entity], {
    nullable: 'items',
    description:
      'The entities with these keys, in the same order; null for each entity that does not exist. An invalid representation is an error, and null at its index.',
  })
  _entities(
    @Arg('representations', () => [Representation], {
      description: `At most ${MAX_PAGE} representations.`,
    })
    representations: unknown[],
    @Ctx() { session }: Context,
    @SelectedByType() selectionOf: SelectionOf,
  ) {
    if (representations.length > MAX_PAGE)
      throw new OperationRejection(badInput({ path: 'representations', ...tooLong(MAX_PAGE, 'items') }));
    return findRows(session, representations.map(referenceIn), selectionOf);
  }
}

/** The additions to schema.graphql that a federation router needs: the `@key` of each entity type. */
const FEDERATION = parse(`
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])
  ${Object.entries(KEYS)
    .map(([type, key]) => `extend type ${type} @key(fields: "${key}")`)
    .join('\n')}
`);

/** Builds the schema as a subgraph of Apollo Federation 2. */
export function buildSubgraph(parts: SchemaParts): GraphQLSchema {
  const sdl = subgraphSdl(buildSchema(parts));
  const schema = buildSchema({ ...parts, resolvers: [...parts.resolvers, new EntityResolver(sdl)] });
  schema.extensions = { ...schema.extensions, sdl };
  const service = schema.getType('_Service') as GraphQLObjectType;
  weighText(service.getFields().sdl as GraphQLField<unknown, unknown>, sdl.length);
  return schema;
}

/** The SDL of the subgraph, from which a supergraph is composed. @throws Error if the subgraph is invalid. */
function subgraphSdl(schema: GraphQLSchema): string {
  // Marks `PageInfo` as @shareable, because other subgraphs may define it too. On `extend type`, the mark would not apply to
  // the fields.
  const sdl = printed(schema).replace(/^type PageInfo /m, '$&@shareable ');
  const typeDefs = concatAST([FEDERATION, parse(sdl)]);
  const { data } = graphqlSync({ schema: buildSubgraphSchema({ typeDefs }), source: '{ _service { sdl } }' });
  return (data as { _service: { sdl: string } })._service.sdl;
}
