import { choices, type Choice } from '../../lib/details';
import { m } from '../../paraglide/messages';
import type { Command } from '../../state/commands.svelte';
import type { OpenOperation } from '../../state/openoperation.svelte';
import type { Controller } from '../kind';

/** The first of these options have a key. */
const keyed = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/** The options of a question, one of which may be chosen. */
export class Choosing implements Controller {
  constructor(private readonly opened: OpenOperation) {}

  /** Chooses an option, or none if it was chosen; the answer still has to be sent. */
  choose(value: string): void {
    const { form } = this.opened.draft;
    form.fields.choice = form.fields.choice === value ? '' : value;
    this.opened.missing = '';
    this.opened.draft.touch();
  }

  commands(): Command[] {
    return [...this.opened.answers(), ...keyed.map((n) => this.#choice(n))];
  }

  #choice(n: number): Command {
    const choice = (): Choice | undefined => this.opened.op && choices(this.opened.op)[n - 1];
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
