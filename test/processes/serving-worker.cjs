// A worker that only reports that it accepts connections.
const { createBirpc } = require('birpc');

const primary = createBirpc(
  {},
  { post: (message) => process.send(message), on: (listener) => process.on('message', listener) },
);
primary.serving({});
