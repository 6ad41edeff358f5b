import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];

/** Files with a new CA, and with a certificate for 127.0.0.1 that the CA has signed. */
export class Certificates {
  private readonly directory = mkdtempSync(join(tmpdir(), 'certificates-'));
  readonly authority = this.file('ca.pem');
  readonly certificate = this.file('cert.pem');
  readonly key = this.file('key.pem');

  /** Whether openssl is installed. */
  static get canBeMade(): boolean {
    return spawnSync('openssl', ['version']).status === 0;
  }

  constructor() {
    const authority = ['-x509', '-subj', '/CN=test authority', '-keyout', this.file('ca-key.pem')];
    openssl('req', ...authority, ...NEW_KEY, '-out', this.authority);
    const request = this.file('request.pem');
    openssl('req', '-subj', '/CN=test', '-keyout', this.key, ...NEW_KEY, '-out', request);
    writeFileSync(this.file('names'), 'subjectAltName=IP:127.0.0.1');
    const signed = ['-CA', this.authority, '-CAkey', this.file('ca-key.pem'), '-CAcreateserial', '-days', '2'];
    openssl('x509', '-req', '-in', request, ...signed, '-extfile', this.file('names'), '-out', this.certificate);
  }

  remove(): void {
    rmSync(this.directory, { recursive: true });
  }

  private file(name: string): string {
    return join(this.directory, name);
  }
}

function openssl(...args: string[]): void {
  const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}
