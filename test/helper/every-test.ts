import { holdWhatWasHeard, listenIn, stopListening } from './connections';

// For every test file: responses on connections are checked against the OpenAPI document, whatever the client.
beforeAll(listenIn);
afterEach(holdWhatWasHeard);
afterAll(() => {
  holdWhatWasHeard();
  stopListening();
  // The product is the same for the next test file.
  jest.restoreAllMocks();
});
