import type { FieldNode, GraphQLField } from 'graphql';

/** The fields selected of an object. */
export interface SelectedFields {
  readonly fields: readonly SelectedField[];
}

export interface SelectedField {
  /** The response key. */
  readonly key: string;
  readonly field: GraphQLField<unknown, unknown>;
  /** `Pet.name` */
  readonly coordinate: string;
  readonly nodes: readonly FieldNode[];
  /** `undefined` for leaves. */
  readonly selection: SelectedFields | undefined;
}
