import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PetStatus } from '../database/generated/enums';

/** Names, the first categories for a small store; `src` and `dist` are both beside `prisma`. */
const NAMES: {
  readonly categories: readonly (readonly [name: string, description: string])[];
  readonly petNames: readonly string[];
  readonly secondNames: readonly string[];
} = JSON.parse(readFileSync(join(__dirname, '..', '..', 'prisma', 'sample-names.json'), 'utf8'));

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The sample's current date: complete orders ship before it, the others after. */
const TODAY = Date.UTC(2026, 10, 21);

const DRAW = {
  name: draws('name'),
  hasSecondName: draws('has second name'),
  secondName: draws('second name'),
  status: draws('status'),
  category: draws('category'),
  tracked: draws('tracked'),
  stock: draws('stock'),
  pet: draws('pet'),
  quantity: draws('quantity'),
  complete: draws('complete'),
  undated: draws('undated'),
  day: draws('day'),
  time: draws('time'),
};

/**
 * A realistic store with a given number of pets; the same number always yields the same store. It has half as many
 * orders, and as many categories as a store of its size would have, up to 50.
 */
export class SampleStore {
  readonly categories: typeof NAMES.categories;
  readonly orderCount: number;
  /** Remaining units of each pet after the orders made so far; -1 if its stock is not tracked. */
  readonly stock: Int32Array;

  constructor(readonly petCount: number) {
    this.categories = NAMES.categories.slice(0, Math.max(1, Math.round(Math.sqrt(petCount) / 2)));
    this.orderCount = Math.floor(petCount / 2);
    this.stock = Int32Array.from({ length: petCount }, (_, index) => initialStock(index));
  }

  /** @returns `category`: its index, from 0. */
  pet(index: number): { name: string; status: PetStatus; category: number } {
    const second = DRAW.hasSecondName(index) < 0.15 ? ` ${pick(NAMES.secondNames, DRAW.secondName(index))}` : '';
    return {
      name: pick(NAMES.petNames, DRAW.name(index)) + second,
      status: statusOf(index),
      // Squaring favours the first categories: some kinds are more popular than others.
      category: Math.floor(DRAW.category(index) ** 2 * this.categories.length),
    };
  }

  /**
   * Makes an order and takes its units from stock: call it once per index, in order.
   * @returns `pet`: the index of its pet, from 0, or null if the store is sold out; `reserved`: the units it takes, 0 if
   * the pet's stock is not tracked.
   */
  order(index: number) {
    const quantity = 1 + Math.floor(DRAW.quantity(index) ** 3 * 5);
    const complete = DRAW.complete(index) < 0.65;
    const shipDate = shipDateOf(index, complete);
    const pet = this.petFor(index, quantity);
    const left = pet === null ? -1 : (this.stock[pet] ?? -1);
    const reserved = left < 0 ? 0 : quantity;
    if (pet !== null && reserved) this.stock[pet] = left - reserved;
    return { pet, quantity, shipDate, complete, reserved };
  }

  /** The pet that is drawn or, if it lacks stock, the next one that has enough. */
  private petFor(order: number, quantity: number): number | null {
    const start = Math.floor(DRAW.pet(order) * this.petCount);
    for (let step = 0; step < this.petCount; step++) {
      const pet = (start + step) % this.petCount;
      const left = this.stock[pet] ?? -1;
      if (left < 0 || left >= quantity) return pet;
    }
    return null;
  }
}

function statusOf(pet: number): PetStatus {
  const drawn = DRAW.status(pet);
  if (drawn < 0.68) return 'available';
  return drawn < 0.82 ? 'pending' : 'sold';
}

function initialStock(pet: number): number {
  if (DRAW.tracked(pet) > 0.6) return -1;
  return statusOf(pet) === 'sold' ? 0 : Math.floor(DRAW.stock(pet) ** 2 * 40);
}

/** Within opening hours; some incomplete orders have no date yet. */
function shipDateOf(order: number, complete: boolean): Date | null {
  if (!complete && DRAW.undated(order) < 0.25) return null;
  const days = Math.floor(DRAW.day(order) * (complete ? -180 : 42));
  const quarters = 32 + Math.floor(DRAW.time(order) * 40);
  return new Date(TODAY + days * DAY + (complete ? 0 : DAY) + (quarters * HOUR) / 4);
}

function pick(list: readonly string[], drawn: number): string {
  return list[Math.floor(drawn * list.length)] ?? '';
}

/** Pseudo-random numbers in [0, 1), fixed for each row and independent across rows and attributes. */
function draws(attribute: string): (index: number) => number {
  const salt = [...attribute].reduce((hash, letter) => mix(hash ^ letter.charCodeAt(0)), 0x9e3779b9);
  return (index) => mix(mix(index + 1) ^ salt) / 2 ** 32;
}

/** The finalizer of MurmurHash3. */
function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
