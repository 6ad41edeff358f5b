// Runs before anything is compiled or loaded, also on versions of Node that could not parse the rest: nothing new in here.

const needed = require('../package.json').engines.node.replace('>=', '');
const running = process.versions.node;

/** Whether a version comes before another. */
function isBefore(version, other) {
  const [numbers, others] = [version, other].map((each) => each.split('.').map(Number));
  const differing = others.findIndex((number, index) => number !== numbers[index]);
  return differing !== -1 && numbers[differing] < others[differing];
}

if (isBefore(running, needed)) {
  process.stderr.write(
    `petstore-gateway: Node ${running} is too old: ${needed} or later is needed (https://nodejs.org).\n`,
  );
  process.exit(1);
}
try {
  require.resolve('../dist/main.js');
} catch (_) {
  process.stdout.write('Compiling: the first start takes a while …\n');
}
