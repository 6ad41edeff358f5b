import type { PetStatus } from './generated/enums';
import { KINDS, PET_NAMES, SECOND_NAMES } from './sample-names';

export interface SamplePet {
  name: string;
  status: PetStatus;
  /** Its category, counted from 0. */
  category: number;
}

export interface SampleOrder {
  /** Its pet, counted from 0; null in a store that is sold out. */
  pet: number | null;
  quantity: number;
  shipDate: Date | null;
  complete: boolean;
  /** The units that it holds: its quantity where the pet's stock is tracked, else 0. */
  reserved: number;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** What the sample calls today: complete orders were shipped before, the others will be after. */
const TODAY = Date.UTC(2026, 10, 21);

/**
 * A believable store of a given number of pets: the same number, the same store. It has half as many orders, and as many
 * categories as a store of its size would have, up to 50.
 */
export class SampleStore {
  readonly categories: readonly (readonly [name: string, description: string])[];
  readonly orderCount: number;
  /** What is left of each pet after the orders that were made so far; -1 where stock is not tracked. */
  readonly stock: Int32Array;

  constructor(readonly petCount: number) {
    this.categories = KINDS.slice(0, Math.max(1, Math.round(Math.sqrt(petCount) / 2)));
    this.orderCount = Math.floor(petCount / 2);
    this.stock = Int32Array.from({ length: petCount }, (_, index) => initialStock(index));
  }

  pet(index: number): SamplePet {
    const second =
      draw(index, 'has second name') < 0.15 ? ` ${pick(SECOND_NAMES, index, 'second name')}` : '';
    return {
      name: pick(PET_NAMES, index, 'name') + second,
      status: statusOf(index),
      // Squared, the draw leans to the first: some kinds are more popular than others.
      category: Math.floor(draw(index, 'category') ** 2 * this.categories.length),
    };
  }

  /** Makes an order and takes its units from stock: call it once for each index, in their order. */
  order(index: number): SampleOrder {
    const quantity = 1 + Math.floor(draw(index, 'quantity') ** 3 * 5);
    const complete = draw(index, 'complete') < 0.65;
    const shipDate = shipDateOf(index, complete);
    const pet = this.petFor(index, quantity);
    const left = pet === null ? -1 : (this.stock[pet] ?? -1);
    if (pet === null || left < 0) return { pet, quantity, shipDate, complete, reserved: 0 };
    this.stock[pet] = left - quantity;
    return { pet, quantity, shipDate, complete, reserved: quantity };
  }

  /** The pet that is drawn or, where it is short of stock, the next that is not. */
  private petFor(order: number, quantity: number): number | null {
    const start = Math.floor(draw(order, 'pet') * this.petCount);
    for (let step = 0; step < this.petCount; step++) {
      const pet = (start + step) % this.petCount;
      const left = this.stock[pet] ?? -1;
      if (left < 0 || left >= quantity) return pet;
    }
    return null;
  }
}

function statusOf(pet: number): PetStatus {
  const drawn = draw(pet, 'status');
  if (drawn < 0.68) return 'available';
  return drawn < 0.82 ? 'pending' : 'sold';
}

function initialStock(pet: number): number {
  if (draw(pet, 'tracked') > 0.6) return -1;
  return statusOf(pet) === 'sold' ? 0 : Math.floor(draw(pet, 'stock') ** 2 * 40);
}

/** In shop hours; some orders that wait have no date yet. */
function shipDateOf(order: number, complete: boolean): Date | null {
  if (!complete && draw(order, 'undated') < 0.25) return null;
  const days = Math.floor(draw(order, 'day') * (complete ? -180 : 42));
  const quarters = 32 + Math.floor(draw(order, 'time') * 40);
  return new Date(TODAY + days * DAY + (complete ? 0 : DAY) + (quarters * HOUR) / 4);
}

function pick(list: readonly string[], index: number, attribute: string): string {
  return list[Math.floor(draw(index, attribute) * list.length)] ?? '';
}

/** A number from 0 up to 1 that is always the same for one attribute of one row, and looks random beside all others. */
function draw(index: number, attribute: string): number {
  let hash = index + 0x9e3779b9;
  for (let at = 0; at < attribute.length; at++) hash = mix(hash ^ attribute.charCodeAt(at));
  return mix(hash) / 2 ** 32;
}

/** The finalizer of MurmurHash3. */
function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
