import {
  type ExecutionResult,
  getIntrospectionQuery,
  type IntrospectionOptions,
  parse,
  print,
  stripIgnoredCharacters,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { JsonText } from '../database/reading/json-text';
import type { Analysis } from './operation';
import { serialize } from './serialization';

/** Maximum memory of all kept answers and their documents, in bytes. */
const MAX_BYTES = 16_000_000;
/** The memory in bytes, per character of a parsed document. */
const CHARACTER_BYTES = 120;

/** Keeps the answers to introspection queries. The schema never changes, so each answer is computed only once. */
export class IntrospectionAnswers {
  private readonly answers = new LRUCache<Analysis, ExecutionResult>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ data }, { characters }) => serialize(data).length + CHARACTER_BYTES * (characters + 1),
  });

  find(analysis: Analysis): ExecutionResult | undefined {
    return analysis.isIntrospection ? this.answers.get(analysis) : undefined;
  }

  /** Keeps the answer to an introspection query, unless it has errors. */
  keep(analysis: Analysis, { data, errors }: ExecutionResult): void {
    if (errors || !data) return;
    const texts = Object.entries(data).map(([key, value]) => [key, new JsonText(serialize(value))]);
    this.answers.set(analysis, { data: Object.fromEntries(texts) });
  }
}

const OPTIONS: readonly (keyof IntrospectionOptions)[] = [
  'descriptions',
  'specifiedByUrl',
  'directiveIsRepeatable',
  'schemaDescription',
  'inputValueDeprecation',
  'oneOf',
];
/** A text of more characters is no introspection query of graphql-js. */
const LONGEST = 3_000;
let usual: ReadonlySet<string> | undefined;

/** Whether a text is an introspection query as tools send it: from graphql-js, with any options and formatting. */
export function isUsualIntrospection(text: string): boolean {
  if (text.length > LONGEST) return false;
  usual ??= new Set(usualTexts());
  return usual.has(text.trim());
}

function* usualTexts(): Iterable<string> {
  for (let bits = 0; bits < 2 ** OPTIONS.length; bits++) {
    const text = getIntrospectionQuery(Object.fromEntries(OPTIONS.map((name, i) => [name, (bits & (1 << i)) > 0])));
    yield text.trim();
    yield print(parse(text));
    yield stripIgnoredCharacters(text);
  }
}
