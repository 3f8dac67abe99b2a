import type { Choice } from '../../lib/details';
import type { Question } from '../../lib/form';
import { m } from '../../paraglide/messages';
import type { Command } from '../../state/commands.svelte';
import type { OpenOperation } from '../../state/openoperation.svelte';
import type { Controller } from '../kind';

/** The first of these options have a key. */
const keyed = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/** The options of a question, one of which may be chosen. */
export class Choosing implements Controller {
  constructor(private readonly opened: OpenOperation) {}

  /** What can be chosen by a button: one or several options. A ranking is asked in the form. */
  get offered(): readonly Choice[] {
    return this.#question?.choices ?? [];
  }

  get #question(): Question | undefined {
    return this.opened.asked.questions?.find((q) => q.name === 'choice' && q.offered && !q.ranking);
  }

  chose(value: string): boolean {
    const chosen = this.opened.asked.values.choice;
    return Array.isArray(chosen) ? chosen.includes(value) : chosen === value;
  }

  /** Chooses an option, or no longer; the answer still has to be sent. */
  choose(value: string): void {
    const on = !this.chose(value);
    this.opened.missing = '';
    if (this.#question?.type !== 'array') {
      this.opened.asked.set('choice', on ? value : undefined);
      return;
    }
    const all = this.offered.map((choice) => choice.value).filter((one) => (one === value ? on : this.chose(one)));
    this.opened.asked.set('choice', all.length ? all : undefined);
  }

  commands(): Command[] {
    return [...this.opened.answers(), ...keyed.map((n) => this.#choice(n))];
  }

  #choice(n: number): Command {
    const choice = (): Choice | undefined => this.offered[n - 1];
    return {
      id: `choose-${n}`,
      label: () => m.cmd_choose({ n, what: choice()?.label ?? '' }),
      keys: [String(n)],
      group: 'answer',
      when: () => this.opened.ready && !!choice(),
      run: () => this.choose(choice()?.value ?? ''),
    };
  }
}
