import { holdWhatWasHeard, listenIn, stopListening } from './connections';

// In every test file: what comes over connections is held to the OpenAPI document, whoever asks, by whatever client.
beforeAll(listenIn);
afterEach(holdWhatWasHeard);
afterAll(() => {
  holdWhatWasHeard();
  stopListening();
});
