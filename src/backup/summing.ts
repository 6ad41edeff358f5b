import { createHash } from 'node:crypto';
import type { Sum } from './parts';

/** Counts rows and adds up their hashes: the sum is the same in whatever order a database gives them. */
export class Summing {
  private rows = 0;
  private sum = 0n;

  add(row: string): void {
    this.rows++;
    this.sum += createHash('sha256').update(row).digest().readBigUInt64BE();
  }

  get result(): Sum {
    return { rows: this.rows, checksum: BigInt.asUintN(64, this.sum).toString(16).padStart(16, '0') };
  }
}
