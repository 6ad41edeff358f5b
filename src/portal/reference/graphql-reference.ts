import {
  type GraphQLDirective,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isSpecifiedDirective,
} from 'graphql';
import type { Catalogue } from '../../errors/codes';
import { anchor, escaped, rows } from '../html';
import { rootEntries } from './graphql-root-html';
import { Elements, type Field } from './graphql-type-html';
import { type Entry, type Part, referenceHtml } from './reference-page';

const INTRODUCTION = `
  <p class="lead"><a href="/schema.graphql">schema.graphql</a> · try it in <a href="/graphiql">GraphiQL</a> ·
    guides: <a href="/docs/graphql-clients">Clients</a>, <a href="/docs/relay">Relay</a>,
    <a href="/docs/live-events">Live events</a>, <a href="/docs/limits">Limits</a>, <a href="/docs/bounds">Bounds</a></p>
  <p>Operations are sent to <code>/graphql</code>; subscriptions over WebSocket, or to <code>/graphql/stream</code> as
    server-sent events. Each element has an anchor by its schema coordinate, such as
    <a href="#Pet.category"><code>#Pet.category</code></a>.</p>
  <ul>
    <li><strong>1 request</strong>: what a root field counts as. An operation is charged for all of them at once, before it runs.</li>
    <li><strong>scope</strong>: what the key must allow. Without it nothing of the operation runs.</li>
    <li><strong>cost</strong>: what an element adds to the <a href="/docs/bounds">estimated cost</a>; where nothing is said, a field costs 1.</li>
    <li><strong>Errors</strong>: a field’s own. <a href="/docs/errors">Others</a> may come from any operation: limits, access, documents, bad input.</li>
  </ul>`;

/** `/docs/graphql`: everything that the schema says, with the directives that introspection does not show, on one page. */
export function graphqlReference(template: string, schema: GraphQLSchema, errors: Catalogue): string {
  const elements = new Elements(schema, errors);
  const roots = new Set(
    [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].map((type) => type?.name),
  );
  const types = Object.values(schema.getTypeMap())
    .filter(({ name }) => !name.startsWith('__') && !roots.has(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const uses = usesOf(schema);
  const part = (id: string, title: string, isOfPart: (type: GraphQLNamedType) => boolean): Part => ({
    id,
    title,
    entries: types
      .filter(isOfPart)
      .map((type) => typeEntry(schema, elements, type, isScalarType(type) ? [] : (uses.get(type.name) ?? []))),
  });
  const parts: Part[] = [
    { id: 'queries', title: 'Queries', entries: rootEntries(elements, schema.getQueryType()) },
    { id: 'mutations', title: 'Mutations', entries: rootEntries(elements, schema.getMutationType()) },
    { id: 'subscriptions', title: 'Subscriptions', entries: rootEntries(elements, schema.getSubscriptionType()) },
    part('objects', 'Objects', isObjectType),
    part('interfaces', 'Interfaces and unions', isAbstractType),
    part('inputs', 'Inputs', isInputObjectType),
    part('enums', 'Enums', isEnumType),
    part('scalars', 'Scalars', isScalarType),
    { id: 'directives', title: 'Directives', entries: directiveEntries(schema, elements) },
  ];
  return referenceHtml(template, {
    title: 'GraphQL reference',
    description: 'Every operation and type of the GraphQL schema: arguments, scopes, errors, cost, stability.',
    introduction: INTRODUCTION,
    example: 'order, WRITE, beta…',
    parts: parts.filter(({ entries }) => entries.length),
  });
}

function typeEntry(schema: GraphQLSchema, elements: Elements, type: GraphQLNamedType, uses: readonly string[]): Entry {
  const links = (names: readonly string[]) =>
    names.map((name) => `<a href="${anchor(name)}"><code>${escaped(name)}</code></a>`).join(', ');
  const related = [
    isObjectType(type) &&
      type.getInterfaces().length &&
      `Implements ${links(type.getInterfaces().map(({ name }) => name))}.`,
    isAbstractType(type) && `Possible types: ${links(schema.getPossibleTypes(type).map(({ name }) => name))}.`,
    uses.length && `Used by ${links(uses)}.`,
  ].filter(Boolean);
  return {
    id: type.name,
    label: type.name,
    title: `<code>${type.name}</code>`,
    body:
      elements.textOf(type) +
      membersOf(elements, type) +
      related.map((text) => `<p class="shared">${text}</p>`).join(''),
  };
}

function membersOf(elements: Elements, type: GraphQLNamedType): string {
  if (isObjectType(type) || isInterfaceType(type))
    return rows(Object.values(type.getFields()).map((field) => elements.field(type.name, field)));
  if (isInputObjectType(type))
    return rows(Object.values(type.getFields()).map((field) => elements.inputField(type.name, field)));
  return isEnumType(type) ? rows(type.getValues().map((value) => elements.enumValue(type.name, value))) : '';
}

function directiveEntries(schema: GraphQLSchema, elements: Elements): Entry[] {
  const entry = (directive: GraphQLDirective): Entry => {
    const id = `@${directive.name}`;
    const places = directive.locations.map((place) => `<code>${place}</code>`).join(', ');
    return {
      id,
      label: id,
      title: `<code>${id}</code>`,
      body: `${elements.textOf(directive)}<p class="shared">On ${places}.</p>${rows(directive.args.map((each) => elements.argument(id, each)))}`,
    };
  };
  return schema
    .getDirectives()
    .filter((each) => !isSpecifiedDirective(each))
    .map(entry);
}

/** The coordinates of the fields and arguments that have a type, by the name of the type. */
function usesOf(schema: GraphQLSchema): ReadonlyMap<string, readonly string[]> {
  const uses = new Map<string, string[]>();
  const add = (name: string, coordinate: string) => uses.set(name, [...(uses.get(name) ?? []), coordinate]);
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__') || !('getFields' in type)) continue;
    for (const field of Object.values<Field | GraphQLInputField>(type.getFields())) {
      const coordinate = `${type.name}.${field.name}`;
      add(getNamedType(field.type).name, coordinate);
      if ('args' in field)
        for (const argument of field.args) add(getNamedType(argument.type).name, `${coordinate}(${argument.name}:)`);
    }
  }
  return uses;
}
