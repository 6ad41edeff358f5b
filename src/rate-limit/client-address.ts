import { isIPv4, isIPv6 } from 'node:net';
import { IPv4, IPv6 } from 'ipaddr.js';

/** The prefix with which a dual-stack socket usually reports an IPv4 client. */
const MAPPED = '::ffff:';

/** Number of 16-bit groups in the network part of an IPv6 address. */
const NETWORK_GROUPS = 4;

/**
 * The rate-limit subject of all texts that are not IP addresses. They share one quota, so a caller cannot get more requests
 * by inventing such texts.
 */
export const UNKNOWN = 'unknown';

/** An address as Azure Application Gateway and AWS ALB write it: `192.0.2.1:4711`, `[2001:db8::1]:4711`, `[2001:db8::1]`. */
const DECORATED = /^(?:([0-9.]+)|\[([^\]]+)\])(?::[0-9]+)?$/;

/** An address without the brackets and the port that a proxy may have added. Any other text stays unchanged. */
export function withoutPort(text: string): string {
  const [, ipv4, ipv6] = DECORATED.exec(text) ?? [];
  return ipv4 ?? ipv6 ?? text;
}

/**
 * The rate-limit subject of an anonymous request: an IPv4 address, or the /64 network of an IPv6 address, written as the
 * first address of the network. The function maps a subject to itself, so a displayed subject can be used as input.
 * @param ip `undefined` if the client reset the connection before its address was read.
 */
export function idOfAddress(ip: string | undefined): string {
  if (ip === undefined) return UNKNOWN;
  const address = ip.startsWith(MAPPED) ? ip.slice(MAPPED.length) : ip;
  if (isIPv4(address)) return address;
  if (isIPv6(ip)) return networkOf(ip);
  const bare = withoutPort(ip);
  return bare === ip ? UNKNOWN : idOfAddress(bare);
}

function networkOf(ip: string): string {
  const [withoutZone = ip] = ip.split('%', 1);
  const address = IPv6.parse(withoutZone);
  const range = address.range();
  // Translators (RFC 6052) and dual-stack sockets present all IPv4 clients as addresses of one IPv6 network. Without this
  // conversion, these clients would share one quota.
  if (range === 'ipv4Mapped' || range === 'rfc6052') {
    return new IPv4(address.toByteArray().slice(12)).toString();
  }
  // A provider assigns at least a /64 network to each subscriber, so a /64 network is one rate-limit subject. Otherwise a
  // subscriber could evade the limits by sending each request from a different address.
  return new IPv6(address.parts.map((group, i) => (i < NETWORK_GROUPS ? group : 0))).toString();
}
