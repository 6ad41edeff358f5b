import { GraphQLScalarType } from 'graphql';
import { Arg, Ctx, createUnionType, Field, ObjectType, Query, Resolver } from 'type-graphql';
import { badInput } from '../errors/domain-error';
import { MAX_PAGE } from '../graphql/connection';
import type { Context } from '../graphql/context';
import { Sized } from '../graphql/cost-directives';
import { Counted, Requires } from '../graphql/directives';
import { Errors } from '../graphql/errors-directive';
import { acceptOtherIds } from '../graphql/scalars';
import { SelectedByType } from '../graphql/selected';
import { Category } from './category';
import { InventoryItem } from './inventory-item';
import type { TypedRow } from './node';
import { Order } from './order';
import { Pet } from './pet';
import { referencesIn } from './representations';
import type { SelectionOf, TypedRows } from './typed-rows';

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
