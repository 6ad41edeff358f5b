const { statSync } = require('node:fs');

/** Projects by how long their files take, the slowest first. */
const PROJECTS = ['full', 'process', 'gateway', 'unit'];

/** Jest's order without known durations is by size alone, and ends with one worker that waits for another. */
module.exports = class SlowestFirst {
  sort(tests) {
    const keys = new Map(
      tests.map((test) => [test, [PROJECTS.indexOf(test.context.config.displayName.name), -statSync(test.path).size]]),
    );
    return [...tests].sort((a, b) => {
      const [[project, size], [otherProject, otherSize]] = [keys.get(a), keys.get(b)];
      return project - otherProject || size - otherSize;
    });
  }

  cacheResults() {}
};
