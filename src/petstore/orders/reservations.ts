import type { Transaction } from '../../database/database';
import type { Order } from '../../database/generated/client';
import { lockRows } from '../../database/raw-queries';
import { DomainError } from '../../errors/domain-error';
import { COUNT } from '../../errors/input-rules';

/**
 * Moves the units that an order has reserved from one pet's stock to another's; for the same pet only the difference.
 * Stock that is not tracked is left alone, and stock never exceeds its maximum.
 * @returns the units now reserved: 0 if the stock is not tracked.
 * @throws DomainError `INSUFFICIENT_STOCK`.
 */
export async function moveReservation(
  tx: Transaction,
  from: Pick<Order, 'petId' | 'reserved'>,
  to: Pick<Order, 'petId' | 'quantity'>,
): Promise<number> {
  const pets = [...new Set([from.petId, to.petId])].filter((id) => id !== null);
  const tracked = await lockRows(tx, 'inventory', pets);
  const entries = await tx.prisma.inventory.findMany({ where: { petId: { in: tracked } } });
  const stock = new Map(entries.map(({ petId, quantity }) => [petId, quantity]));
  const reserved = to.petId !== null && stock.has(to.petId) ? (to.quantity ?? 0) : 0;
  for (const petId of pets) {
    const quantity = stock.get(petId);
    const returned = petId === from.petId ? from.reserved : 0;
    const taken = petId === to.petId ? reserved : 0;
    if (quantity === undefined || returned === taken) continue;
    const left = quantity + returned - taken;
    if (left < 0) throw insufficientStock(to, quantity + returned);
    await tx.prisma.inventory.update({ where: { petId }, data: { quantity: Math.min(left, COUNT.maximum) } });
    tx.changed({ topic: 'inventory', kind: 'UPDATED', id: petId });
  }
  return reserved;
}

/** @param stock the units that the order could have had; `undefined` if that is not known. */
export function insufficientStock({ petId, quantity }: Pick<Order, 'petId' | 'quantity'>, stock?: number): DomainError {
  const details = [{ path: 'input.quantity', message: `exceeds the stock${stock === undefined ? '' : `: ${stock}`}` }];
  return new DomainError('INSUFFICIENT_STOCK', `Fewer than ${quantity} units of pet ${petId} are in stock.`, details);
}
