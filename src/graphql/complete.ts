import {
  defaultTypeResolver,
  type GraphQLAbstractType,
  GraphQLError,
  type GraphQLLeafType,
  type GraphQLResolveInfo,
} from 'graphql';
import { JsonText, sizeOf } from './json-text';
import { type Completion, type Container, isPromise, Place, type Run, type SelectionPlan, write } from './run';

type Complete = Completion['complete'];

/** A value that the database has already serialized as its selection asks. */
interface Serialized {
  readonly $json?: string;
}

export function completeLeaf(type: GraphQLLeafType): Complete {
  return (value, run, container, key) => {
    const serialized = type.serialize(value);
    if (serialized === null || serialized === undefined) throw new Error(`${type} cannot represent ${String(value)}`);
    run.spend(sizeOf(serialized));
    write(serialized, container, key);
  };
}

/** @param item how each item is completed. */
export function completeList(item: Completion): Complete {
  return function complete(this: Completion, value, run, container, key, owner) {
    if (isWritten(value, run, container, key)) return;
    if (typeof value !== 'object' || !(Symbol.iterator in (value as object)))
      throw new GraphQLError(`Expected Iterable, but did not find one for field "${this.coordinate}".`);
    const items: unknown[] = [];
    run.spend(2);
    write(items, container, key);
    const place = new Place(this, container, key, owner);
    let index = 0;
    for (const each of value as Iterable<unknown>) {
      if (!run.spend(1)) return;
      run.put(each, item, items, index++, place);
    }
  };
}

export function completeObject({ fields, bytes, blank }: SelectionPlan): Complete {
  return function complete(this: Completion, value, run, container, key, owner) {
    if (isWritten(value, run, container, key)) return;
    run.spend(bytes);
    const object = blank();
    write(object, container, key);
    run.fill(fields, value, object, new Place(this, container, key, owner));
  };
}

/**
 * A value of an interface or a union, as the object type that it turns out to be.
 * @param plans what is selected of each possible type, by name.
 */
export function completeAbstract(
  type: GraphQLAbstractType,
  plans: ReadonlyMap<string, SelectionPlan>,
  infoOf: (run: Run, owner?: Place) => GraphQLResolveInfo,
): Complete {
  const resolveType = type.resolveType ?? defaultTypeResolver;
  const completions = new Map([...plans].map(([name, plan]) => [name, completeObject(plan)]));
  return function complete(this: Completion, value, run, container, key, owner) {
    const completeAs = (name: unknown) => {
      const found = completions.get(String(name));
      if (!found) throw new Error(`${this.coordinate} has a value of the type ${name}, which is no ${type}`);
      found.call(this, value, run, container, key, owner);
    };
    const name = resolveType(value, run.context, infoOf(run, owner), type);
    if (!isPromise(name)) return completeAs(name);
    run.put(name.then(String), { ...this, complete: completeAs }, container, key, owner);
  };
}

/** Writes a value that the database has serialized. @returns whether it has. */
function isWritten(value: unknown, run: Run, container: Container, key: string | number): boolean {
  const { $json } = value as Serialized;
  if ($json === undefined) return false;
  run.spend(Buffer.byteLength($json));
  write(new JsonText($json), container, key);
  return true;
}
