import {
  astFromValue,
  type GraphQLArgument,
  type GraphQLEnumValue,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  isListType,
  isNonNullType,
  print,
} from 'graphql';
import type { Catalogue } from '../../errors/codes';
import { annotationsOf } from '../../graphql/annotations';
import { weightOf } from '../../graphql/cost-directives';
import { anchor, badge, escaped, inline, prose, type Row, rows } from '../html';
import { describedError } from './errors-html';

export type Field = GraphQLField<unknown, unknown>;

/** A type as in the schema language, with a link to its definition. */
export function typeHtml(type: GraphQLType): string {
  if (isNonNullType(type)) return `${typeHtml(type.ofType)}!`;
  if (isListType(type)) return `[${typeHtml(type.ofType)}]`;
  const { name } = getNamedType(type);
  return `<a href="#${name}">${name}</a>`;
}

/** The default value of an argument or input field, as HTML behind its type. */
export function defaultOf({ type, defaultValue }: GraphQLArgument | GraphQLInputField): string {
  const given = defaultValue === undefined ? undefined : astFromValue(defaultValue, type);
  return given ? ` = <code>${escaped(print(given))}</code>` : '';
}

/** What is the same for all kinds of elements of a schema: what they are called, and how long they stay. */
export class Elements {
  private readonly annotations;

  constructor(
    private readonly schema: GraphQLSchema,
    readonly errors: Catalogue,
  ) {
    this.annotations = annotationsOf(schema);
  }

  /** Where a type or a code of an error is described. */
  readonly describes = (code: string): string | undefined => {
    const type = this.schema.getType(code);
    return type ? `#${type.name}` : describedError(this.errors, code);
  };

  /** A field of an object or interface, with its arguments. */
  field(typeName: string, field: Field): Row {
    const at = `${typeName}.${field.name}`;
    const text = `${this.textOf(field)}${rows(field.args.map((argument) => this.argument(at, argument)))}`;
    return {
      id: at,
      name: field.name,
      type: typeHtml(field.type),
      text,
      badges: this.badges(field, weightOf(field, 1)),
    };
  }

  argument(field: string, argument: GraphQLArgument): Row {
    return this.value(argument, `${field}(${argument.name}:)`);
  }

  inputField(typeName: string, field: GraphQLInputField): Row {
    return this.value(field, `${typeName}.${field.name}`);
  }

  enumValue(typeName: string, value: GraphQLEnumValue): Row {
    const id = `${typeName}.${value.name}`;
    return { id, name: value.name, type: '', text: this.textOf(value), badges: this.badges(value) };
  }

  private value(value: GraphQLArgument | GraphQLInputField, id: string): Row {
    const { name, type } = value;
    const badges = this.badges(value, weightOf(value, 0));
    return { id, name, type: `${typeHtml(type)}${defaultOf(value)}`, text: this.textOf(value), badges };
  }

  /** Deprecation, stability and, if it is not that of other elements, the cost. */
  badges(element: unknown, cost?: number): string[] {
    const { stability, deprecation } = this.annotations.get(element) ?? {};
    return [
      ...(deprecation ? ['deprecated'] : []),
      ...(stability ? [stability] : []),
      ...(cost !== undefined && cost > 1 ? [`cost ${cost}`] : []),
    ];
  }

  /** The description, and what replaces a deprecated element. */
  textOf(element: { readonly description?: string | null }): string {
    const own = String(element.description ?? '').replace(/\n\n(?:Scope|Errors|Stability): .*$/, '');
    const { deprecation } = this.annotations.get(element) ?? {};
    if (!deprecation) return prose(own, this.describes);
    const { reason, sunset, replacement } = deprecation;
    const instead = replacement && ` Use <a href="${anchor(replacement)}"><code>${replacement}</code></a>.`;
    const until = sunset && ` Available until ${sunset.toISOString().slice(0, 10)}.`;
    return `${prose(own, this.describes)}<p>Deprecated: ${inline(reason, this.describes)}${until ?? ''}${instead ?? ''}</p>`;
  }

  badgesHtml(element: unknown): string {
    return this.badges(element).map(badge).join('');
  }
}
