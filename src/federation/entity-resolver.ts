import { GraphQLScalarType } from 'graphql';
import { Arg, Ctx, createUnionType, Field, ObjectType, Query, Resolver } from 'type-graphql';
import { Sized } from '../cost/cost-directives';
import { MAX_PAGE } from '../domain/connection';
import { badInput } from '../domain/domain-error';
import { Errors } from '../errors/errors-directive';
import { Counted, Requires } from '../graphql/directives/directives';
import type { Context } from '../graphql/executor/context';
import { SelectedByType } from '../graphql/executor/selected';
import { acceptOtherIds } from '../schema/scalars';
import type { SelectionOf, TypedRows } from '../schema/typed-rows';
import { Category } from '../schema/types/category';
import { InventoryItem } from '../schema/types/inventory-item';
import type { TypedRow } from '../schema/types/node';
import { Order } from '../schema/types/order';
import { Pet } from '../schema/types/pet';
import { referencesIn } from './representations';

const Representation = new GraphQLScalarType({
  name: '_Any',
  description: 'A representation of an entity: its `__typename`, and its key.',
});

const Entity = createUnionType({
  name: '_Entity',
  description: 'What other subgraphs can refer to by a key.',
  types: () => [Pet, Category, Order, InventoryItem] as const,
  resolveType: (row: object) => (row as TypedRow).__typename,
});

@ObjectType('_Service', { simpleResolvers: true, description: 'This subgraph.' })
class SubgraphService {
  @Field(() => String, { description: 'The schema with its keys, from which a supergraph is composed.' })
  sdl!: string;
}

/** What Apollo Federation asks of a subgraph (Apollo Federation subgraph specification). */
@Resolver()
export class EntityResolver {
  constructor(
    private readonly rows: TypedRows,
    private readonly sdl: string,
  ) {}

  @Query(() => SubgraphService, { description: 'This subgraph, for composition. Uses no quota.' })
  _service(): SubgraphService {
    return { sdl: this.sdl };
  }

  @Counted()
  @Requires('READ')
  @Errors('BAD_USER_INPUT')
  @Sized('representations')
  @Query(() => [Entity], {
    nullable: 'items',
    description: 'The entities with these keys, in the same order; null in place of those that do not exist.',
  })
  _entities(
    @Arg('representations', () => [Representation], {
      description: `At most ${MAX_PAGE} representations.`,
      validateFn: acceptOtherIds,
    })
    representations: unknown[],
    @Ctx() { session, charge }: Context,
    @SelectedByType() selectionOf: SelectionOf,
  ) {
    if (representations.length > MAX_PAGE)
      charge.refuse(badInput({ path: 'representations', message: `must have at most ${MAX_PAGE} items` }));
    return this.rows.find(session, referencesIn(representations), selectionOf);
  }
}
