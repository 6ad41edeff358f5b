import { graphql } from 'react-relay';

export const query = graphql`
  query relayPetsQuery($count: Int!) {
    viewer {
      plan
    }
    ...relayPets_list @arguments(count: $count)
  }
`;

export const list = graphql`
  fragment relayPets_list on Query
  @argumentDefinitions(count: { type: "Int", defaultValue: 10 }, cursor: { type: "String" })
  @refetchable(queryName: "relayPetsNextQuery") {
    pets(first: $count, after: $cursor, orderBy: { field: NAME }) @connection(key: "relayPets_pets") {
      edges {
        node {
          id
          name
          status
          category {
            name
          }
        }
      }
    }
  }
`;

export const move = graphql`
  mutation relayPetsMutation($input: NewPet!, $connections: [ID!]!) {
    createPet(input: $input) @appendNode(connections: $connections, edgeTypeName: "PetEdge") {
      id
      name
    }
  }
`;

export const changed = graphql`
  subscription relayPetsSubscription {
    petChanged {
      kind
      pet {
        id
        name
      }
    }
  }
`;
