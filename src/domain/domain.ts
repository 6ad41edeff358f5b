import type { GraphQLSchema } from 'graphql';
import type { Database } from '../database/database';
import { selectByIds } from '../database/reading/select';
import type { Table } from '../database/reading/table';
import { catalogueOf, type ErrorEntry, isErrorCode } from '../errors/codes';
import type { RowLoaders } from '../events/hub';
import { type Topics, tablesOf } from '../events/topics';
import type { IdForm } from '../graphql/scalars';
import type { SchemaParts } from '../graphql/schema';
import { methodAndPath, type RestRoute, type Tag } from '../rest/rest-route';

/**
 * A subject area, with everything that the gateway needs to serve it over GraphQL and REST. The domains are `petstore/`,
 * `access/` and `feed/`.
 */
export interface Domain {
  /** The name of the domain in error messages. */
  readonly name: string;
  /** Instances of classes with type-graphql's decorators. */
  readonly resolvers: readonly object[];
  /** The REST operations, in the order of the documentation. */
  readonly routes: readonly RestRoute[];
  /** The tags of REST operations, by the first segment of their paths. */
  readonly tags: Readonly<Record<string, Tag>>;
  /** The error codes that are specific to the domain. */
  readonly errors: Readonly<Record<string, ErrorEntry>>;
  /** The forms of identifiers that are not integers. */
  readonly idForms: readonly IdForm[];
  /** The tables whose rows PostgreSQL can write as JSON. */
  readonly tables: readonly Table<object>[];
  /** The topics of events. Clients can subscribe to changes of the rows of a topic's table. */
  readonly topics: Topics;
  /** The descriptions of the whole service. Exactly one domain must have descriptions. */
  readonly descriptions?: Descriptions;
  /** The sample data that `npm run seed` loads. At most one domain may have samples. */
  readonly samples?: Samples;
  /** Builds the schema as a subgraph of Apollo Federation. Called if the setting `SUBGRAPH` is true. */
  buildSubgraph?(parts: SchemaParts): Promise<GraphQLSchema>;
}

/** Runs a GraphQL operation on a gateway, and returns its data. Errors reject the promise. */
export type GraphQLCall = <Data>(query: string, variables?: object) => Promise<Data>;

/** Sample data, in an amount that the user chooses. */
export interface Samples {
  /** What the sample contains: `categories, pets, orders and stock`. */
  readonly what: string;
  /** The unit of the amount, such as `pets`. It is also the name of the command-line option. */
  readonly unit: string;
  /** The amount if the user chooses none. */
  readonly default: number;
  readonly max: number;
  /** How the other numbers depend on the amount: `orders and categories are scaled to match`. */
  readonly scaled?: string;
  /**
   * Adds the sample to the existing data.
   * @param onProgress called after each batch.
   * @returns the number of objects of each kind, such as `pets` and `orders`.
   */
  load(
    call: GraphQLCall,
    amount: number,
    onProgress: (done: number, total: number) => void,
  ): Promise<Readonly<Record<string, number>>>;
}

/** The descriptions of the whole service in its documentation. */
interface Descriptions {
  readonly title: string;
  /** The description of the GraphQL schema. */
  readonly schema: string;
  /** The description of the REST interface, in Markdown. */
  readonly rest: string;
  /** A write that succeeds on an empty database. The first start shows it as an example. */
  readonly firstWrite?: ExampleWrite;
}

/** A POST request to the REST interface. */
export interface ExampleWrite {
  readonly path: string;
  readonly body: object;
}

/** The topics of all domains. */
export function topicsOf(domains: readonly Domain[]): Topics {
  return Object.assign({}, ...domains.map(({ topics }) => topics));
}

/** All domains of a service, combined. */
export type Domains = ReturnType<typeof combineDomains>;

/**
 * Combines the domains of a service.
 * @throws Error that lists all missing parts and all conflicts.
 */
export function combineDomains(domains: readonly Domain[]) {
  const faults = faultsOf(domains);
  const [texts] = domains.flatMap(({ descriptions }) => descriptions ?? []);
  if (faults.length || !texts) throw new Error(faults.join('; '));
  const all = <T>(part: (domain: Domain) => readonly T[]) => domains.flatMap(part);
  const topics = topicsOf(domains);
  return {
    description: texts.schema,
    resolvers: all(({ resolvers }) => resolvers),
    idForms: all(({ idForms }) => idForms),
    tables: all(({ tables }) => tables),
    topics,
    errors: catalogueOf(Object.assign({}, ...domains.map(({ errors }) => errors))),
    rest: {
      title: texts.title,
      description: texts.rest,
      firstWrite: texts.firstWrite,
      tags: Object.assign({}, ...domains.map(({ tags }) => tags)) as Readonly<Record<string, Tag>>,
      routes: all(({ routes }) => routes),
    },
    rowLoaders: (database: Database): RowLoaders =>
      Object.fromEntries(
        Object.entries(tablesOf(topics)).map(([topic, table]) => [
          topic,
          (ids) => selectByIds(database.serviceSession(), table, ids),
        ]),
      ),
    samples: domains.find(({ samples }) => samples)?.samples,
    buildSubgraph: (parts: SchemaParts) => {
      const domain = domains.find(({ buildSubgraph }) => buildSubgraph);
      if (!domain?.buildSubgraph) throw new Error('SUBGRAPH is set, but no domain has buildSubgraph');
      return domain.buildSubgraph(parts);
    },
  };
}

function faultsOf(domains: readonly Domain[]): string[] {
  const faults: string[] = [];
  const atMostOne = (part: 'descriptions' | 'samples' | 'buildSubgraph') => {
    const [first, ...others] = domains.filter((domain) => domain[part]).map(({ name }) => name);
    for (const other of others) faults.push(`the domains ${first} and ${other} both have ${part}`);
    return first;
  };
  if (atMostOne('descriptions') === undefined) faults.push('no domain has descriptions');
  atMostOne('samples');
  atMostOne('buildSubgraph');
  const unique = (what: string, namesOf: (domain: Domain) => readonly string[]) => {
    const owners = new Map<string, string>();
    for (const domain of domains) {
      for (const name of namesOf(domain)) {
        const owner = owners.get(name);
        if (owner === domain.name) faults.push(`the domain ${owner} has the ${what} ${name} twice`);
        else if (owner !== undefined)
          faults.push(`the domains ${owner} and ${domain.name} both have the ${what} ${name}`);
        owners.set(name, domain.name);
      }
    }
  };
  unique('tag', ({ tags }) => Object.keys(tags));
  unique('error code', ({ errors }) => Object.keys(errors));
  unique('table of the type', ({ tables }) => tables.map(({ type }) => type));
  unique('topic', ({ topics }) => Object.keys(topics));
  unique('operation', ({ routes }) => routes.map(({ on }) => on));
  for (const { name, resolvers, routes, tags, errors } of domains) {
    if (!resolvers.length) faults.push(`the domain ${name} has no resolvers`);
    for (const code of Object.keys(errors))
      if (isErrorCode(code)) faults.push(`the domain ${name} has the error code ${code}, which is the gateway's`);
    for (const route of routes) {
      const [, part = ''] = methodAndPath(route).path.split('/');
      if (!tags[part]) faults.push(`the domain ${name} has no tag for the paths /${part} (${route.on})`);
    }
  }
  return faults;
}
