import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { Pet as PetRow } from '../../../src/database/generated/client';
import type { Context } from './context';
import { Category, NewPet, Pet, PetConnection } from './types';

/** GraphQL's ID does not accept a bigint. */
export function petOf(row: PetRow): Pet {
  return { ...row, id: String(row.id), categoryId: String(row.categoryId) };
}

@Resolver(() => Pet)
export class PetResolver {
  @Query(() => Pet, { nullable: true })
  async pet(@Arg('id', () => ID) id: string, @Ctx() { prisma }: Context): Promise<Pet | null> {
    const row = await prisma.pet.findUnique({ where: { id: BigInt(id) } });
    return row && petOf(row);
  }

  @Query(() => PetConnection)
  async pets(
    @Arg('first', () => Int, { defaultValue: 20 }) first: number,
    @Ctx() { prisma }: Context,
  ): Promise<PetConnection> {
    const rows = await prisma.pet.findMany({ orderBy: { id: 'asc' }, take: first });
    return { nodes: rows.map(petOf) };
  }

  /** Uses `findUnique`, as Prisma's guide recommends to avoid N+1 queries: Prisma batches the calls of one tick. */
  @FieldResolver(() => Category)
  async category(@Root() pet: Pet, @Ctx() { prisma }: Context): Promise<Category | null> {
    const row = await prisma.category.findUnique({ where: { id: BigInt(pet.categoryId) } });
    return row && { ...row, id: String(row.id) };
  }

  @Mutation(() => Pet)
  async createPet(@Arg('input', () => NewPet) input: NewPet, @Ctx() { prisma }: Context): Promise<Pet> {
    const { name, categoryId, status } = input;
    return petOf(await prisma.pet.create({ data: { name, categoryId: BigInt(categoryId), status } }));
  }
}
