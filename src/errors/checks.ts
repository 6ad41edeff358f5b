import { badInput, type ErrorDetail } from './domain-error';
import { faultsOf, type Rule, type Rules } from './input-rules';

/** Collects all problems of an input, so that the caller gets them in one response. */
export class Checks {
  private readonly details: ErrorDetail[] = [];

  /** Checks the fields of an input argument. @returns the input, with texts trimmed where their rule says so. */
  input<Input extends object>(rules: Rules<Input>, input: Input): Input {
    const checked = { ...input };
    for (const [field, rule] of Object.entries(rules) as [keyof Input & string, Rule][])
      if (input[field] !== undefined) checked[field] = this.value(`input.${field}`, rule, input[field]);
    return checked;
  }

  value<Value>(path: string, rule: Rule, value: Value): Value {
    for (const message of faultsOf(rule, value)) this.fail(path, message);
    return rule.trimmed && typeof value === 'string' ? (value.trim() as Value & string) : value;
  }

  fail(path: string, message: string): void {
    this.details.push({ path, message });
  }

  /** @throws DomainError `BAD_USER_INPUT` with everything that failed. */
  done(): void {
    if (this.details.length) throw badInput(...this.details);
  }
}

/** An input whose fields are not null where the rules refuse it. */
type Checked<Input, Given> = {
  [field in keyof Input]: Given extends { readonly [name in field]: { readonly nullable: false } }
    ? Exclude<Input[field], null>
    : Input[field];
};

/** @see Checks.input @throws DomainError `BAD_USER_INPUT`. */
export function checkInput<Input extends object, Given extends Rules<Input>>(
  rules: Given,
  input: Input,
): Checked<Input, Given> {
  const checks = new Checks();
  const checked = checks.input(rules, input);
  checks.done();
  return checked as Checked<Input, Given>;
}
