import fc from 'fast-check';
import { serialize, sizeOf } from '../../src/graphql/serialization';

/** Random values like the data of a response. The keys of objects are GraphQL names. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: 'binary' }),
    fc.integer(),
    fc.constant(null),
    tie('list'),
    tie('object'),
  ),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), tie('value'), { maxKeys: 4 }),
}));

test('a response is serialized as by JSON.stringify, and sizeOf returns its size in bytes', () => {
  fc.assert(
    fc.property(value, (data) => {
      expect(serialize(data)).toBe(JSON.stringify(data));
      expect(sizeOf(data)).toBe(Buffer.byteLength(JSON.stringify(data)));
    }),
  );
});
