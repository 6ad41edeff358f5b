import { GraphQLError } from 'graphql';
import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import type { Prisma } from '../../../src/database/generated/client';
import type { Context } from './context';
import { NewOrder, Order } from './types';

@Resolver(() => Order)
export class OrderResolver {
  @Mutation(() => Order)
  async placeOrder(@Arg('input', () => NewOrder) input: NewOrder, @Ctx() { prisma }: Context): Promise<Order> {
    const { quantity, shipDate, complete } = input;
    const petId = input.petId ? BigInt(input.petId) : null;
    const order = await prisma.$transaction(async (tx) => {
      const reserved = petId && quantity ? await reserve(tx, petId, quantity) : 0;
      return tx.order.create({ data: { petId, quantity, shipDate, complete: complete ?? false, reserved } });
    });
    return { ...order, id: String(order.id), petId: order.petId === null ? null : String(order.petId) };
  }
}

async function reserve(tx: Prisma.TransactionClient, petId: bigint, quantity: number): Promise<number> {
  const { count } = await tx.inventory.updateMany({
    where: { petId, quantity: { gte: quantity } },
    data: { quantity: { decrement: quantity } },
  });
  if (count) return quantity;
  if (await tx.inventory.findUnique({ where: { petId } })) {
    throw new GraphQLError('Not enough in stock', { extensions: { code: 'INSUFFICIENT_STOCK' } });
  }
  return 0;
}
