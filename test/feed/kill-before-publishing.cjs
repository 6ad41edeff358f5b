// Loaded with `node --require`. Kills the process when a change of a pet has been committed and is about to be published.
const { join } = require('node:path');
const { GatewayDatabase } = require(join(__dirname, '..', '..', 'dist', 'database', 'gateway-database.js'));

const { changed } = GatewayDatabase.prototype;
GatewayDatabase.prototype.changed = function (change) {
  if (change.topic === 'pet') process.kill(process.pid, 'SIGKILL');
  changed.call(this, change);
};
