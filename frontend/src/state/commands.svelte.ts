import { untrack } from 'svelte';
import { matches, worksWhileTyping, type Chord, type Pressed } from '../lib/keys';

/** Something a person can do. The menu, the key and the palette all come from this one value. */
export interface Command {
  /** Its name within the set it is added with. Commands.all names the set as well. */
  id: string;
  /** In the language of the page, at the moment it is shown. */
  label: () => string;
  keys: Chord[];
  group: 'move' | 'answer' | 'go' | 'help';
  /** Whether it can be done now. What cannot be done is not offered. */
  when: () => boolean;
  /** A dangerous answer: it has a chord of its own, and the palette does not offer it. */
  risky?: () => boolean;
  run: () => void;
}

export const mac = /mac|iphone|ipad/i.test(globalThis.navigator?.userAgent ?? '');

/** Whether keys write text there. */
export const typing = (target: EventTarget | null): boolean => {
  const element = target as Partial<HTMLInputElement> | null;
  const typed = element?.tagName === 'TEXTAREA' || element?.role === 'combobox' || (element?.tagName === 'INPUT' && !/^(checkbox|radio|button)$/.test(element.type ?? ''));
  return typed || element?.isContentEditable === true;
};

/** What presses itself: the key belongs to it. */
const pressable = (target: EventTarget | null): boolean =>
  !!(target as Partial<Element> | null)?.closest?.('button, a[href], summary, input, select');

interface CommandSet {
  number: number;
  commands: ReadonlyMap<string, Command>;
}

/** All commands there are right now. Views add theirs while they are on screen; the last added wins a key. */
export class Commands {
  #sets = $state.raw<CommandSet[]>([]);
  #added = 0;
  #holders = 0;
  /** Each with an id of its own: two views may both have a 'back'. */
  readonly all = $derived<Command[]>(this.#sets.flatMap(({ number, commands }) => [...commands].map(([id, command]) => ({ ...command, id: `${number}.${id}` }))));

  /** Adds commands. Returns the undo. Of two with one id in the same call the later counts. */
  add(commands: Command[]): () => void {
    const set = { number: ++this.#added, commands: new Map(commands.map((command) => [command.id, command])) };
    // Called from effects, which must not depend on what they change here.
    this.#sets = [...untrack(() => this.#sets), set];
    return () => {
      this.#sets = untrack(() => this.#sets).filter((other) => other !== set);
    };
  }

  /** The command that was added with this id, the last where several were. */
  get(id: string): Command | undefined {
    return this.#sets.findLast(({ commands }) => commands.has(id))?.commands.get(id);
  }

  /** Keeps keys from running commands, as an open dialog does. Returns the undo; several may pause at once. */
  pause(): () => void {
    this.#holders++;
    let held = true;
    return () => {
      if (held) this.#holders--;
      held = false;
    };
  }

  available(): Command[] {
    return this.all.filter((command) => command.when());
  }

  /** Runs the command a key stands for, if one can be done now. */
  press(event: Pressed & Pick<Event, 'target' | 'preventDefault' | 'defaultPrevented'> & { repeat: boolean; isComposing: boolean }): void {
    if (this.#holders > 0 || event.defaultPrevented || event.isComposing) return;
    const inField = typing(event.target);
    const onButton = (event.key === 'Enter' || event.key === ' ') && !event.ctrlKey && !event.metaKey && pressable(event.target);
    if (onButton) return;
    for (const command of this.all.toReversed()) {
      const chord = command.keys.find((key) => matches(key, event, mac));
      if (!chord || (inField && !worksWhileTyping(chord)) || !command.when()) continue;
      event.preventDefault();
      // Holding a key moves on; it never answers twice.
      if (!event.repeat || command.group === 'move') command.run();
      return;
    }
  }
}
