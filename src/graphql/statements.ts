import type { FieldNode } from 'graphql';
import { WEIGHTS, weightOf } from './cost-directives';
import { declaredPart, hasOwnResolver, placeOf } from './declared-fields';
import type { SelectedField, SelectedFields } from './selected';

/** The number of statements that an operation needs at most. */
interface Statements {
  readonly total: number;
  /** The statements for related rows and computed columns. No `@cost` includes them, since often none is needed. */
  readonly related: number;
}

/**
 * Counts the statements of an operation. Resolvers of root fields declare their statements with `@cost`. Pages, counts and
 * related rows are read with one statement for all parents. A statement joins the rows that are related to its rows, if its
 * resolver gets a selection. The related rows of joined rows, of payloads and of events need separate statements. The row of an
 * event is not counted, since it is read once for all subscribers.
 * @param isLeaf whether a root field is always read by one statement (leaves.ts).
 */
export function countStatements(
  root: SelectedFields,
  isEvent: boolean,
  isLeaf: (field: SelectedField) => boolean,
): Statements {
  let declared = 0;
  // Paths of fields without aliases, since loaders read a relation once for all its aliases.
  const related = new Set<string>();
  const listed = new Set<string>();
  const visit = (fields: SelectedFields['fields'], path: string, isJoined: boolean): void => {
    for (const { field, nodes, selection } of fields) {
      const part = declaredPart(field);
      const below = selection?.fields ?? [];
      const here = `${path} ${placeOf(field.name, nodes[0])}`;
      if (part === 'relation' || part === 'computed') {
        if (!isJoined) related.add(here);
        visit(below, here, !isJoined && !isEvent);
      } else if (part === 'pages') {
        listed.add(here);
        visit(below, here, true);
      } else if (hasOwnResolver(field)) {
        declared += declaredBy(field, nodes[0]);
        visit(below, here, isSelecting(field) && !isEvent);
      } else {
        if (weightOf(field, 1) >= WEIGHTS.statement) listed.add(here);
        visit(below, here, isJoined);
      }
    }
  };
  for (const field of root.fields) {
    if (isLeaf(field)) declared++;
    else visit([field], field.key, false);
  }
  return { total: declared + listed.size + related.size, related: related.size };
}

/** The number of statements that a field declares, by its weight and by the weights of the given arguments. */
function declaredBy(field: SelectedField['field'], node: FieldNode | undefined): number {
  const given = new Set(node?.arguments?.map(({ name }) => name.value));
  const args = field.args.filter(({ name }) => given.has(name));
  const weight = args.reduce((sum, arg) => sum + weightOf(arg, 0), weightOf(field, 1));
  return Math.floor(weight / WEIGHTS.statement);
}

function isSelecting({ extensions }: SelectedField['field']): boolean {
  return Boolean(extensions.isSelected || extensions.isSelectedByType);
}
