import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf } from '../app/documented';
import { freePort } from './free-port';
import { findProgram } from './programs';
import { accepts, Server } from './server';
import { until } from './until';

/** A proxy, and how to run it without root. */
export interface ProxyProgram {
  readonly name: string;
  /** `undefined` if it is not installed. */
  readonly binary: string | undefined;
  /** The configuration that docs/operations.md shows. */
  readonly documented: string;
  /** The shortest configuration of the beginner's guide of the proxy. */
  readonly minimal: string;
  /** Adds compression to a configuration. */
  compressed(section: string): string;
  /** The whole configuration, for a process that writes only to `directory`. */
  configuration(section: string, directory: string, port: number): string;
  arguments(file: string, directory: string): string[];
}

/** The directory of Apache's modules. */
const MODULES = '/usr/lib/apache2/modules';
const APACHE_MODULES = 'mpm_event authz_core proxy proxy_http proxy_wstunnel filter deflate'.split(' ');

function documented(language: string): string {
  const [block = ''] = blocksOf('docs/operations.md', language);
  return block;
}

const HAPROXY_MINIMAL = `
frontend http
  mode http
  bind :8080
  timeout client 60s
  option forwardfor
  default_backend gateway
backend gateway
  mode http
  timeout connect 5s
  timeout server 60s
  server gateway1 127.0.0.1:4000
`;

export const PROXIES: readonly ProxyProgram[] = [
  {
    name: 'nginx',
    binary: findProgram('nginx', ['/usr/sbin/nginx']),
    documented: documented('nginx'),
    minimal: `server { listen 8080; location / {
      proxy_pass http://127.0.0.1:4000;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    } }`,
    compressed: (section) => `gzip on; gzip_types application/json;\n${section}`,
    configuration: (section, directory) => {
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (kind) => `${kind}_temp_path ${directory}/${kind};`,
      );
      const http = ['access_log off;', ...paths, section.replace('listen ', 'listen 127.0.0.1:')];
      // As root, nginx would give its directories to another user.
      const user = process.getuid?.() === 0 ? 'user root; ' : '';
      return `${user}daemon off; pid ${directory}/pid; error_log stderr; events {} http {\n${http.join('\n')}\n}`;
    },
    arguments: (file, directory) => ['-c', file, '-p', directory, '-e', 'stderr'],
  },
  {
    name: 'Apache',
    binary: findProgram('Apache', ['/usr/sbin/apache2']),
    documented: documented('apache'),
    minimal: 'ProxyPass / http://127.0.0.1:4000/',
    compressed: (section) => `AddOutputFilterByType DEFLATE application/json\n${section}`,
    configuration: (section, directory, port) =>
      [
        ...APACHE_MODULES.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`),
        ...(process.getuid?.() === 0 ? ['User nobody', 'Group nogroup'] : []),
        ...[`ServerRoot ${directory}`, 'ServerName localhost', `PidFile ${directory}/pid`, 'ErrorLog /dev/null'],
        ...[`DefaultRuntimeDir ${directory}`, `Listen 127.0.0.1:${port}`, 'StartServers 1', section],
      ].join('\n'),
    arguments: (file) => ['-f', file, '-DFOREGROUND'],
  },
  {
    name: 'HAProxy',
    binary: findProgram('HAProxy', ['/usr/sbin/haproxy']),
    documented: documented('haproxy'),
    minimal: HAPROXY_MINIMAL,
    compressed: (section) =>
      section.replace(
        'option forwardfor',
        'option forwardfor\n    compression algo gzip\n    compression type application/json',
      ),
    configuration: (section) => `global\n  maxconn 500\n${section.replace('bind :', 'bind 127.0.0.1:')}`,
    arguments: (file) => ['-db', '-f', file],
  },
  {
    name: 'Caddy',
    binary: findProgram('Caddy', ['/usr/bin/caddy']),
    documented: documented('caddyfile'),
    minimal: ':8080\nreverse_proxy 127.0.0.1:4000\n',
    compressed: (section) => section.replace('reverse_proxy', 'encode gzip\nreverse_proxy'),
    configuration: (section) => `{\nadmin off\nauto_https off\ndefault_bind 127.0.0.1\n}\n${section}`,
    arguments: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
];

/** A running proxy. */
export class RunningProxy extends Server {
  url = '';

  /** @param target the URL of the gateway. */
  static async start(program: ProxyProgram, section: string, target: string): Promise<RunningProxy> {
    const proxy = new RunningProxy();
    const { directory } = proxy;
    const port = await freePort();
    const file = join(directory, 'configuration');
    const text = program
      .configuration(section, directory, port)
      .replaceAll('8080', String(port))
      .replaceAll('4000', new URL(target).port);
    writeFileSync(file, `${text}\n`);
    mkdirSync(join(directory, 'home'));
    const env = { ...process.env, HOME: join(directory, 'home'), XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory };
    proxy.run(String(program.binary), program.arguments(file, directory), { env });
    await until(() => accepts(port));
    proxy.url = `http://127.0.0.1:${port}`;
    return proxy;
  }

  /** Stops the proxy with its child processes. */
  async close(): Promise<void> {
    await this.stop('SIGTERM');
    await this.remove();
  }
}
