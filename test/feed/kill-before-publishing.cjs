// Loaded with `node --require`. Kills the process when a change of a pet has been committed and is about to be published.
const { join } = require('node:path');
const { GatewayDatabase } = require(join(__dirname, '..', '..', 'dist', 'database', 'gateway-database.js'));

const { notifyListeners } = GatewayDatabase.prototype;
GatewayDatabase.prototype.notifyListeners = function (change) {
  if (change.topic === 'pet') process.kill(process.pid, 'SIGKILL');
  notifyListeners.call(this, change);
};
