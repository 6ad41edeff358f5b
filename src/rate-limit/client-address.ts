import { isIPv4, isIPv6 } from 'node:net';
import { IPv4, IPv6 } from 'ipaddr.js';

/** How a socket for both families usually writes an IPv4 client: with this in front. */
const MAPPED = '::ffff:';

/** Groups of 16 bits in the network part of an IPv6 address. */
const NETWORK_GROUPS = 4;

/**
 * Whom an anonymous request is counted against: an IPv4 address as it is, or the /64 network of an IPv6 address, written as
 * that network's first address. A subject's own subject is itself, so what is shown can be given back.
 */
export function subjectOfAddress(ip: string): string {
  const address = ip.startsWith(MAPPED) ? ip.slice(MAPPED.length) : ip;
  if (isIPv4(address)) return address;
  // What is no address shares one quota: if each spelling had its own, making spellings up would make quotas.
  return isIPv6(ip) ? networkOf(ip) : 'unknown';
}

function networkOf(ip: string): string {
  const [withoutZone = ip] = ip.split('%', 1);
  const address = IPv6.parse(withoutZone);
  const range = address.range();
  // A translator in front (RFC 6052), like a socket for both families, shows all IPv4 clients in one IPv6 network: counted
  // by it, they would use up each other's quota.
  if (range === 'ipv4Mapped' || range === 'rfc6052') {
    return new IPv4(address.toByteArray().slice(12)).toString();
  }
  // A subscriber is given a /64 or more, 2^64 addresses: counted whole, each request could come from a new one.
  return new IPv6(address.parts.map((group, i) => (i < NETWORK_GROUPS ? group : 0))).toString();
}
