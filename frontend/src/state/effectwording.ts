import { gist, knownVerb, type EffectVerb, type Reason } from '../lib/verdict';
import type { BlastRadius, Certainty, Effect, Kept, Reversibility, Said } from '../lib/wire';
import { m } from '../paraglide/messages';
import { language } from './locale.svelte';
import { sentence, sentences } from './sentences.svelte';

/** The words of what a call would do. Each is a message of its own, in the language of the page. */

const verbs: Record<EffectVerb, () => string> = {
  filesystem_read: m.verb_filesystem_read,
  filesystem_write: m.verb_filesystem_write,
  filesystem_delete: m.verb_filesystem_delete,
  git_read: m.verb_git_read,
  git_write: m.verb_git_write,
  git_discard: m.verb_git_discard,
  git_remote_write: m.verb_git_remote_write,
  git_history_rewrite: m.verb_git_history_rewrite,
  network_read: m.verb_network_read,
  network_write: m.verb_network_write,
  package_install: m.verb_package_install,
  package_run: m.verb_package_run,
  lang_exec: m.verb_lang_exec,
  process_signal: m.verb_process_signal,
  container: m.verb_container,
  service: m.verb_service,
  database: m.verb_database,
  credential_access: m.verb_credential_access,
  persistence: m.verb_persistence,
  privilege_escalation: m.verb_privilege_escalation,
  security_weakening: m.verb_security_weakening,
  cost: m.verb_cost,
  obfuscated: m.verb_obfuscated,
  unknown: m.verb_unknown,
};

/** A kind of effect by its name: 'Delete files'. */
export function verbWord(verb: string): string {
  return verbs[knownVerb(verb)]();
}

/** A count as it is read: '1,204'. */
export function countWord(n: number): string {
  return new Intl.NumberFormat(language.locale).format(n);
}

export function filesWord(n: number): string {
  return m.perm_files({ n, count: countWord(n) });
}

/** How many resources a title names before it counts the rest, and how long they may be together. */
const named = 3;
const room = 72;

/** What an effect is on, as it is shown: as the call names it, or as the gatekeeper calls what has no name. */
export function thingWord({ resource = '', target = '', thing }: Pick<Effect, 'resource' | 'target' | 'thing'>): string {
  return thing ? sentence({ code: thing, text: resource }) : resource || target;
}

function things(all: string[]): string {
  const list: string[] = [];
  for (const thing of all.slice(0, named)) {
    if (list.length && list.join('').length + thing.length > room) break;
    list.push(thing.length > room ? thing.slice(0, room - 1) + '…' : thing);
  }
  const rest = all.length - list.length;
  const shown = list.join(m.list_comma());
  return rest ? m.perm_things_more({ things: shown, n: rest, all: all.length }) : shown;
}

function doing(verb: EffectVerb, what: string, fresh: boolean): string {
  if (!what) return verbWord(verb);
  switch (verb) {
    case 'filesystem_delete':
      return m.perm_do_delete({ what });
    case 'filesystem_write':
      return fresh ? m.perm_do_create({ what }) : m.perm_do_write({ what });
    case 'filesystem_read':
      return m.perm_do_read({ what });
    default:
      return m.perm_do({ verb: verbWord(verb), what });
  }
}

/** One effect as a sentence: 'Delete build/'. */
export function effectSentence(effect: Pick<Effect, 'verb' | 'resource' | 'target' | 'thing' | 'kept'>): string {
  const thing = thingWord(effect);
  return doing(knownVerb(effect.verb), thing && things([thing]), effect.kept === 'absent');
}

/** What a call would do, in a line: 'Delete build/, .cache/: 1,204 files, 214 of them in no commit'. */
export function effectsSentence(effects: readonly Effect[]): string {
  const all = gist(effects, thingWord);
  const title = doing(all.verb, things(all.things), all.fresh);
  const counted = all.files > 0 ? filesWord(all.files) : '';
  const one = all.files === 1 && all.things.length === 1;
  const whole = one
    ? all.lost ? m.perm_title_lost({ title }) : title
    : !counted ? title
    : m.perm_title_files({ title, files: !all.lost ? counted : all.lost === all.files ? m.perm_files_all_lost({ files: counted }) : m.perm_files_lost({ files: counted, lost: countWord(all.lost) }) });
  return all.others ? m.perm_others({ title: whole, n: all.others }) : whole;
}

export function reversibilityWord(how: Reversibility): string {
  return { reversible: m.perm_reversible, costly: m.perm_costly, irreversible: m.perm_irreversible }[how]();
}

export function blastWord(far: BlastRadius): string {
  return { file: m.perm_blast_file, project: m.perm_blast_project, machine: m.perm_blast_machine, shared: m.perm_blast_shared, production: m.perm_blast_production, public: m.perm_blast_public }[far]();
}

export function certaintyWord(how: Certainty): string {
  return { certain: m.perm_certain, likely: m.perm_likely, possible: m.perm_possible }[how]();
}

/** Where else the contents of a path are; '' where that is not known. */
export function keptWord(kept: Kept | undefined): string {
  return kept ? { absent: m.perm_kept_absent, no_copy: m.perm_kept_no_copy, made_here: m.perm_kept_made_here, committed: m.perm_kept_committed, ignored: m.perm_kept_ignored }[kept]() : '';
}

/** Trust in two places after the point, as it is compared. */
export function trustWord(value: number): string {
  return new Intl.NumberFormat(language.locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 }).format(value);
}

/** Why it is asked, in a sentence. */
export function reasonSentence({ because, effects }: Reason): string {
  if (because.trust !== undefined) return m.perm_why_trust({ verb: verbWord(because.verb ?? because.rule_id.slice('trust.'.length)), why: sentences(because) });
  if (!effects.length) return sentences(because);
  const what = effectsSentence(effects);
  if (effects.some((effect) => effect.floor)) return m.perm_why_floor({ what });
  return effects.every((effect) => effect.certainty === 'possible') ? m.perm_why_possible({ what }) : what;
}

/** What a rule that is offered does not cover, and why. */
export function leftOutSentence(leftOut: readonly Said[]): string {
  const what = ({ verb, resource, thing }: Record<string, string>): Record<string, string> => (verb ? { what: effectSentence({ verb, resource, thing }) } : {});
  return leftOut.map((one) => sentence({ ...one, params: { ...one.params, ...what(one.params ?? {}) } })).join(language.locale === 'en' ? ' ' : '');
}
