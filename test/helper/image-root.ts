import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { run } from './run';

const DEBOOTSTRAP = '/usr/sbin/debootstrap';
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
/** The npm that each Node comes with. */
const NPM: Record<string, string> = { 20: '10', 22: '10', 24: '11' };

/** Why no root can be made here; `undefined` if one can. */
export const NO_ROOT =
  process.platform !== 'linux' || process.getuid?.() !== 0
    ? 'The image is built in a root of its own: run this as root, on Linux.'
    : existsSync(DEBOOTSTRAP)
      ? undefined
      : 'The image is built in a root of its own: apt-get install debootstrap.';

/** As whom, where and with what a program runs in a root. */
export interface Running {
  readonly user: string;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** A root file system in layers, as images have. */
export class ImageRoot {
  /** Where this machine's certificates are in every root. */
  static readonly certificates = CERTIFICATES;

  /** @param path where it is mounted. @param layers the uppermost first. */
  private constructor(
    readonly path: string,
    private readonly layers: readonly string[],
  ) {}

  /**
   * What `node:VERSION-bookworm-slim` is: Debian's smallest system, Node and npm in /usr/local, and the user node. It has this
   * machine's certificates too, for a registry that is reached through a proxy.
   */
  static async ofNode(version: string): Promise<ImageRoot> {
    const root = mkdtempSync(join(tmpdir(), 'image-'));
    await run(DEBOOTSTRAP, ['--variant=minbase', 'bookworm', root]);
    const prefix = join(root, 'opt', 'packages');
    const node = `node-linux-${process.arch}`;
    const npm = `npm@${NPM[version.split('.')[0] ?? '']}`;
    await run('npm', ['install', '--prefix', prefix, '--ignore-scripts', `${node}@${version}`, npm]);
    const local = join(root, 'usr', 'local');
    copyFileSync(join(prefix, 'node_modules', node, 'bin', 'node'), join(local, 'bin', 'node'));
    await run('cp', ['-a', join(prefix, 'node_modules', 'npm'), join(local, 'lib', 'npm')]);
    await run('ln', ['-s', '../lib/npm/bin/npm-cli.js', join(local, 'bin', 'npm')]);
    rmSync(prefix, { recursive: true });
    await run('chroot', [root, 'groupadd', '--gid', '1000', 'node']);
    await run('chroot', [root, 'useradd', '--uid', '1000', '--gid', 'node', '--create-home', 'node']);
    if (existsSync(CERTIFICATES)) cpSync(CERTIFICATES, join(root, CERTIFICATES), { dereference: true });
    for (const file of ['/etc/resolv.conf', '/etc/hosts']) copyFileSync(file, join(root, file));
    return new ImageRoot(root, [root]);
  }

  /** A root that begins as this one, and leaves it as it is. */
  async above(): Promise<ImageRoot> {
    const own = mkdtempSync(join(tmpdir(), 'layer-'));
    const [upper = '', work = '', path = ''] = ['upper', 'work', 'root'].map((name) => join(own, name));
    for (const directory of [upper, work, path]) mkdirSync(directory, { mode: 0o755 });
    const options = `lowerdir=${this.layers.join(':')},upperdir=${upper},workdir=${work}`;
    await run('mount', ['-t', 'overlay', '-o', options, 'overlay', path]);
    return new ImageRoot(path, [upper, ...this.layers]);
  }

  /** Makes it read-only, and mounts a directory of the machine in it. */
  async seal(directory?: string, at = ''): Promise<void> {
    await run('mount', ['-o', 'remount,ro', this.path]);
    if (directory) await run('mount', ['--bind', directory, join(this.path, at)]);
  }

  /**
   * Copies a file or the contents of a folder, for root to own.
   * @param to in this root; ends with a slash if it is the folder to copy into.
   * @param has whether a file of the folder is copied.
   */
  async copy(from: string, to: string, has: (path: string) => boolean = () => true): Promise<void> {
    const target = join(this.path, to, to.endsWith('/') && !statSync(from).isDirectory() ? basename(from) : '');
    mkdirSync(dirname(target), { recursive: true });
    cpSync(from, target, { recursive: true, filter: has, verbatimSymlinks: true });
    await run('chown', ['-R', '--no-dereference', 'root:root', target]);
  }

  /**
   * Starts a program with what a container has: the network, `/dev`, a `/proc` in which it is process 1, and, but for root, no
   * capabilities and no way to win one.
   */
  spawn(program: readonly string[], { user, directory, environment }: Running): ChildProcess {
    const prepare = 'mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" && exec chroot "$0" "$@"';
    const dropped = ['--init-groups', '--bounding-set=-all', '--inh-caps=-all', '--no-new-privs'];
    const as = user === 'root' ? [] : [`--reuid=${user}`, `--regid=${user}`, ...dropped];
    const inside = [this.path, 'setpriv', ...as, 'env', '-C', directory, ...program];
    return spawn('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', prepare, ...inside], {
      env: { PATH, HOME: user === 'root' ? '/root' : `/home/${user}`, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** Removes it; nothing may run in it any more. */
  remove(): void {
    spawnSync('umount', ['-R', '-l', this.path]);
    rmSync(this.layers.length > 1 ? dirname(this.path) : this.path, { recursive: true, force: true });
  }
}
