import fc from 'fast-check';
import { idOfAddress } from '../../src/rate-limit/client-address';

test.each([
  ['an IPv4 address as it is', '203.0.113.7', '203.0.113.7'],
  ['an IPv4 address on a dual-stack socket as IPv4', '::ffff:203.0.113.7', '203.0.113.7'],
  ['an IPv4-mapped address in hexadecimal as IPv4', '::FFFF:cb00:7107', '203.0.113.7'],
  ['a client behind a NAT64 translator by its IPv4 address', '64:ff9b::203.0.113.7', '203.0.113.7'],
  ['an IPv6 address by its /64', '2001:db8:1:2:aaaa:bbbb:cccc:dddd', '2001:db8:1:2::'],
  ['an unabbreviated IPv6 address by its /64', '2001:0DB8:0001:0002::1', '2001:db8:1:2::'],
  ['a link-local address with a zone by its /64', 'fe80::1%eth-0.1', 'fe80::'],
  ['the loopback address by its /64', '::1', '::'],
  ['an IPv4 address with a port, as Azure and AWS write it', '203.0.113.7:4711', '203.0.113.7'],
  ['an IPv6 address with a port', '[2001:db8:1:2::1]:4711', '2001:db8:1:2::'],
  ['an IPv6 address in brackets', '[2001:db8:1:2::1]', '2001:db8:1:2::'],
  ['an IPv4-mapped address with a port as IPv4', '[::ffff:203.0.113.7]:4711', '203.0.113.7'],
  ['a link-local address with a zone and a port', '[fe80::1%eth0]:4711', 'fe80::'],
])('counts %s', (_, ip, subject) => {
  expect(idOfAddress(ip)).toBe(subject);
});

test('adjacent networks are counted separately', () => {
  expect(idOfAddress('2001:db8:1:2::1')).not.toBe(idOfAddress('2001:db8:1:3::1'));
  expect(idOfAddress('203.0.113.7')).not.toBe(idOfAddress('203.0.113.8'));
});

test('all addresses of one /64 share a quota', () => {
  const group = fc.nat(0xffff).map((n) => n.toString(16));
  fc.assert(
    fc.property(fc.array(group, { minLength: 4, maxLength: 4 }), (host) => {
      expect(idOfAddress(`2001:db8:1:2:${host.join(':')}`)).toBe('2001:db8:1:2::');
    }),
  );
});

test('idOfAddress returns a subject unchanged', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.ipV4Extended()), (ip) => {
      const subject = idOfAddress(ip);
      expect(idOfAddress(subject)).toBe(subject);
    }),
  );
});

test('all missing and invalid addresses share a quota', () => {
  const invalid = ['', 'unix:', '1.2.3', '010.0.0.1', 'a', '1.2.3.4:', '1.2.3.4:a', '1.2.3.4:80:80', '[1.2.3', '[]:80'];
  const subjects = [undefined, ...invalid, '[[::1]:80]:80', '2001:db8::1:80:x'].map((ip) => idOfAddress(ip));
  expect(new Set(subjects)).toEqual(new Set(['unknown']));
});
