import { SvelteSet } from 'svelte/reactivity';
import { deciding, partRows, type PartRow } from '../lib/parttree';
import type { CallPart, Ruling } from '../lib/gatewire';

/** The parts of a judged call as a tree: which are folded, and which is selected. */
export class PartTree {
  parts = $state.raw<readonly CallPart[]>([]);
  selected = $state('');
  readonly #folded = new SvelteSet<string>();
  readonly rows = $derived<PartRow[]>(partRows(this.parts, this.#folded));
  /** Every row, folded or not. */
  readonly all = $derived<PartRow[]>(partRows(this.parts));
  readonly current = $derived<PartRow | undefined>(this.rows.find((row) => row.key === this.selected));

  /** Takes another call's parts, with the one that decides selected. */
  set(parts: readonly CallPart[], decision: Ruling): void {
    this.parts = parts;
    this.#folded.clear();
    this.selected = (decision === 'allow' ? undefined : deciding(parts, decision)[0]?.key) ?? this.all[0]?.key ?? '';
  }

  /** Selects a part, and shows it where it is folded away. */
  select(key: string): void {
    for (let above = key.lastIndexOf('.'); above > 0; above = key.lastIndexOf('.', above - 1)) this.#folded.delete(key.slice(0, above));
    this.selected = key;
  }

  fold(key: string, open: boolean): void {
    if (open) this.#folded.delete(key);
    else this.#folded.add(key);
    if (!open && this.selected.startsWith(key + '.')) this.selected = key;
  }

  /** What a key does, as in every tree. Returns whether it does something. */
  press(key: string): boolean {
    const at = this.rows.findIndex((row) => row.key === this.selected);
    const row = this.rows[at];
    if (!row) return false;
    const go = (to: PartRow | undefined): void => {
      if (to) this.selected = to.key;
    };
    switch (key) {
      case 'ArrowDown':
        go(this.rows[at + 1]);
        return true;
      case 'ArrowUp':
        go(this.rows[at - 1]);
        return true;
      case 'Home':
        go(this.rows[0]);
        return true;
      case 'End':
        go(this.rows.at(-1));
        return true;
      case 'ArrowRight':
        if (row.open === false) this.fold(row.key, true);
        else if (row.open) go(this.rows[at + 1]);
        return true;
      case 'ArrowLeft':
        if (row.open) this.fold(row.key, false);
        else go(this.rows.find((one) => one.key === row.key.slice(0, Math.max(0, row.key.lastIndexOf('.')))));
        return true;
      default:
        return false;
    }
  }
}
