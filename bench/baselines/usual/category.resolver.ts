import { Arg, Ctx, FieldResolver, Int, Query, Resolver, Root } from 'type-graphql';
import type { Context } from './context';
import { petOf } from './pet.resolver';
import { Category, CategoryConnection, PetConnection } from './types';

@Resolver(() => Category)
export class CategoryResolver {
  @Query(() => CategoryConnection)
  async categories(
    @Arg('first', () => Int, { defaultValue: 20 }) first: number,
    @Ctx() { prisma }: Context,
  ): Promise<CategoryConnection> {
    const rows = await prisma.category.findMany({ orderBy: { id: 'asc' }, take: first });
    return { nodes: rows.map((row) => ({ ...row, id: String(row.id) })) };
  }

  @FieldResolver(() => PetConnection)
  async pets(
    @Root() category: Category,
    @Arg('first', () => Int, { defaultValue: 20 }) first: number,
    @Ctx() { prisma }: Context,
  ): Promise<PetConnection> {
    const rows = await prisma.category
      .findUnique({ where: { id: BigInt(category.id) } })
      .pets({ orderBy: { id: 'asc' }, take: first });
    return { nodes: (rows ?? []).map(petOf) };
  }
}
