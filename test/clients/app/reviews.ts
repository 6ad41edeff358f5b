import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';

/** Another team's subgraph: reviews of pets 1 to 250, with pages of its own. It adds to pets how many stars they have. */
export const reviews = buildSubgraphSchema({
  typeDefs: parse(`
    extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])
    type Query {
      reviews: ReviewConnection!
    }
    type ReviewConnection {
      nodes: [Review!]!
      pageInfo: PageInfo!
    }
    type Review {
      stars: Int!
      pet: Pet
    }
    type Pet @key(fields: "id") {
      id: ID!
      stars: Int!
    }
    type PageInfo @shareable {
      hasNextPage: Boolean!
      hasPreviousPage: Boolean!
      startCursor: String
      endCursor: String
    }
  `),
  resolvers: {
    Query: {
      reviews: () => ({
        nodes: Array.from({ length: 250 }, (_, index) => ({ stars: index % 6, pet: { id: index + 1 } })),
        pageInfo: { hasNextPage: false, hasPreviousPage: false },
      }),
    },
    Pet: {
      __resolveReference: ({ id }: { id: string }) => ({ id, stars: Number(id) % 6 }),
    },
  },
});
