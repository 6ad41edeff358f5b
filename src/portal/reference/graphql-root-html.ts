import type { GraphQLObjectType } from 'graphql';
import { listSizeOf, weightOf } from '../../graphql/cost-directives';
import { isCounted, requiredScope } from '../../graphql/directives';
import { errorsOf } from '../../graphql/errors-directive';
import { badge, rows } from '../html';
import { errorList } from './errors-html';
import { defaultOf, type Elements, type Field, typeHtml } from './graphql-type-html';
import type { Entry } from './reference-page';

/** The root fields of a kind of operation. */
export function rootEntries(elements: Elements, root: GraphQLObjectType | null | undefined): Entry[] {
  return Object.values(root?.getFields() ?? {}).map((field) => rootEntry(elements, root?.name ?? '', field));
}

function rootEntry(elements: Elements, typeName: string, field: Field): Entry {
  const id = `${typeName}.${field.name}`;
  const scope = requiredScope(field);
  const facts = [scope ? `scope ${scope}` : 'no scope', isCounted(field) ? '1 request' : 'free'];
  const errors = errorsOf(field);
  return {
    id,
    label: field.name,
    title: `<code>${field.name}</code>`,
    body: [
      `<p class="signature"><code>${signatureOf(field)}</code>${elements.badgesHtml(field)}${facts.map(badge).join('')}</p>`,
      elements.textOf(field),
      field.args.length ? `<h4>Arguments</h4>${rows(field.args.map((each) => elements.argument(id, each)))}` : '',
      costOf(field),
      errors.length ? `<h4>Errors of its own</h4>${errorList(elements.errors, errors)}` : '',
    ].join(''),
  };
}

/** A field as in the schema language: `placeOrder(input: NewOrder!): Order`. */
function signatureOf({ name, args, type }: Field): string {
  const given = args.map((argument) => `${argument.name}: ${typeHtml(argument.type)}${defaultOf(argument)}`);
  return `${name}${given.length ? `(${given.join(', ')})` : ''}: ${typeHtml(type)}`;
}

/** What a field adds to the estimated cost of an operation, in words. */
function costOf(field: Field): string {
  const size = listSizeOf(field);
  const weight = weightOf(field, 1);
  if (!size && weight === 1) return '';
  const { assumedSize, slicingArguments = [] } = size ?? {};
  const names = slicingArguments.map((name) => `<code>${name}</code>`).join(' or ');
  const times = size && ` and what is selected of each item, times ${names ? `${names}, or ` : ''}${assumedSize}`;
  return `<h4>Cost</h4><p>${weight}${times ?? ''} (<a href="/docs/bounds">bounds</a>).</p>`;
}
