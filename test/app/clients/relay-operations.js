import { graphql } from 'relay-runtime';

export const query = graphql`
  query relayOperationsQuery($id: ID!, $count: Int!) {
    category(id: $id) {
      ...relayOperations_category @arguments(count: $count)
    }
    order(id: $id) {
      quantity
      pet {
        name
      }
    }
  }
`;

export const category = graphql`
  fragment relayOperations_category on Category
  @argumentDefinitions(count: { type: "Int!" }, cursor: { type: "String" })
  @refetchable(queryName: "relayOperationsNextQuery") {
    name
    pets(first: $count, after: $cursor) @connection(key: "relayOperations_pets") {
      __id
      edges {
        node {
          name
        }
      }
    }
  }
`;

export const list = graphql`
  fragment relayOperations_pets on Query
  @argumentDefinitions(count: { type: "Int", defaultValue: 10 }, cursor: { type: "String" })
  @refetchable(queryName: "relayOperationsPetsQuery") {
    pets(first: $count, after: $cursor, orderBy: { field: NAME }) @connection(key: "relayOperations__pets") {
      edges {
        node {
          id
          name
        }
      }
    }
  }
`;

export const create = graphql`
  mutation relayOperationsCreateMutation($input: NewPet!, $connections: [ID!]!) {
    createPet(input: $input) @prependNode(connections: $connections, edgeTypeName: "PetEdge") {
      id
      name
    }
  }
`;

export const remove = graphql`
  mutation relayOperationsDeleteMutation($id: ID!, $connections: [ID!]!) {
    deletePet(id: $id) {
      nodeId @deleteEdge(connections: $connections)
    }
  }
`;

export const changed = graphql`
  subscription relayOperationsSubscription {
    petChanged {
      kind
      pet {
        name
      }
    }
  }
`;
