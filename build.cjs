// Compiles `src` to `dist`: `node build.cjs`, or `node build.cjs --watch` to compile again after every change. SWC does not
// check types; `npm run check` does.
const { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } = require('node:fs');
const { rmSync, statSync, watch, writeFileSync } = require('node:fs');
const { basename, dirname, join, relative } = require('node:path');

const SOURCES = join(__dirname, 'src');
const BUILD = join(__dirname, 'dist');
/** Names the sources of the build, with their sizes and times. */
const STAMP = join(BUILD, '.sources');

/** The options of SWC. Tests and the benchmark compile their TypeScript with the same language options, `jsc`. */
const options = {
  configFile: false,
  swcrc: false,
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true },
    target: 'es2023',
    keepClassNames: true,
  },
  // Node finds the names of exports in the annotation, so that `(await import('./x.js')).name` is defined.
  module: { type: 'commonjs', ignoreDynamic: true, exportInteropAnnotation: true },
  sourceMaps: true,
  inlineSourcesContent: false,
};

/** Whether the compiler, a development package, is installed. */
function hasCompiler() {
  try {
    // Loading it would take longer than all else that a start does if no source has changed.
    return Boolean(require.resolve('@swc/core'));
  } catch {
    return false;
  }
}

function stamp() {
  const sources = filesIn(SOURCES, /\.ts$/).sort();
  const lineOf = (file) => {
    const { size, mtimeMs } = statSync(file);
    return `${file} ${size} ${mtimeMs}\n`;
  };
  return [__filename, ...sources.map((name) => join(SOURCES, name))].map(lineOf).join('');
}

function isBuilt(current) {
  return existsSync(STAMP) && existsSync(join(BUILD, 'main.js')) && readFileSync(STAMP, 'utf8') === current;
}

/** Compiles every source, if any has changed. Writes only files that differ, and deletes the files of removed sources. */
async function build() {
  const current = stamp();
  if (isBuilt(current)) return;
  const { transformFile } = require('@swc/core');
  const outputs = new Map();
  const compile = async (source) => {
    const output = source.replace(/\.ts$/, '.js');
    const sourceFileName = relative(dirname(join(BUILD, output)), join(SOURCES, source));
    const { code, map } = await transformFile(join(SOURCES, source), { ...options, sourceFileName });
    outputs.set(output, `${code}//# sourceMappingURL=${basename(output)}.map\n`).set(`${output}.map`, map);
  };
  await Promise.all(filesIn(SOURCES, /\.ts$/).map(compile));
  for (const [output, text] of outputs) writeIfDifferent(join(BUILD, output), text);
  for (const output of filesIn(BUILD, /\.js(\.map)?$/)) if (!outputs.has(output)) rmSync(join(BUILD, output));
  writeIfDifferent(STAMP, current);
}

function filesIn(directory, pattern) {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => pattern.test(name));
}

/** Replaces the file in one step, because another process may be loading it. */
function writeIfDifferent(file, text) {
  try {
    if (readFileSync(file, 'utf8') === text) return;
  } catch {
    mkdirSync(dirname(file), { recursive: true });
  }
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, file);
}

/** Compiles again 50 ms after the last change. */
function buildOnChange() {
  let watchers = [];
  let timer;
  const report = ({ message }) => console.error(message);
  let running = build().catch(report);
  // Watches each directory, because Node's recursive watcher loses a file that an editor replaces.
  const watchAll = () => {
    for (const watcher of watchers) watcher.close();
    const entries = readdirSync(SOURCES, { recursive: true, withFileTypes: true });
    const directories = entries.filter((entry) => entry.isDirectory());
    const paths = [SOURCES, ...directories.map(({ parentPath, name }) => join(parentPath, name))];
    watchers = paths.map((path) => watch(path, onChange));
  };
  const onChange = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      watchAll();
      running = running.then(build).catch(report);
    }, 50);
  };
  watchAll();
}

module.exports = { build, hasCompiler, options };

if (require.main === module) {
  if (process.argv.includes('--watch')) buildOnChange();
  else
    build().catch(({ message }) => {
      console.error(message);
      process.exitCode = 1;
    });
}
