import type { ChangeCheck } from '../database/database';
import type { Table } from '../database/reading/table';

/** A topic whose objects are not rows of a table that callers read. Its events are for callers with the scope ADMIN. */
export interface AdminTopic {
  readonly scope: 'ADMIN';
  readonly description: string;
  /** The kinds of its events, with their meanings. */
  readonly kinds: Readonly<Record<string, string>>;
}

/** The topics of events by name, such as `pet`. The topic of a table has its rows as objects. */
export type Topics = Readonly<Record<string, Table<object> | AdminTopic>>;

/** The kinds of the events of a table's rows, with their meanings. */
const ROW_KINDS = {
  CREATED: 'Created.',
  UPDATED: 'Written, possibly with the same values.',
  DELETED: 'Deleted.',
};

export function isAdminTopic(topic: Table<object> | AdminTopic): topic is AdminTopic {
  return 'scope' in topic;
}

/** The kinds of a topic's events, with their meanings. */
export function kindsOf(topic: Table<object> | AdminTopic): Readonly<Record<string, string>> {
  return isAdminTopic(topic) ? topic.kinds : ROW_KINDS;
}

/** The tables of the topics that have a table. */
export function tablesOf(topics: Topics): Readonly<Record<string, Table<object>>> {
  const entries = Object.entries(topics).filter(([, topic]) => !isAdminTopic(topic));
  return Object.fromEntries(entries) as Readonly<Record<string, Table<object>>>;
}

/**
 * Rejects changes of unknown topics, which would reach no subscriber. Also rejects changes without the owner of the row, which
 * could reach callers who must not see the row.
 */
export function changeCheck(topics: Topics): ChangeCheck {
  return ({ topic, owner }) => {
    const declared = topics[topic];
    if (!declared) throw new Error(`no domain has the topic ${topic} of a change`);
    if (!isAdminTopic(declared) && declared.owner && owner === undefined)
      throw new Error(
        `a change of the topic ${topic} must name the owner of the row, since rows of its table have owners`,
      );
  };
}
