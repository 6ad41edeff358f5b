const { statSync } = require('node:fs');

/** The test projects. The project with the slowest files comes first. */
const PROJECTS = ['full', 'process', 'gateway', 'unit'];

/**
 * Without recorded durations, Jest sorts files only by size. A slow file may then start last, and the other workers are idle
 * while it runs.
 */
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
