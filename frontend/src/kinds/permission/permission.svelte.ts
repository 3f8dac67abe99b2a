import { tick } from 'svelte';
import { Problem } from '../../backend/http';
import { ended } from '../../lib/life';
import { argsFrom, argsText, choicesOf, mild, questionOf, risky, runs } from './question';
import type { AnswerChoice, ChoiceAction, Difference, GateChoice, JsonObject, PermissionAnswer, Question } from '../../lib/wire';
import { m } from '../../paraglide/messages';
import type { Command } from '../../state/commands.svelte';
import type { Controller } from '../kind';
import type { OpenOperation } from '../../state/openoperation.svelte';
import { answerWord, choiceWord } from './words';
import { errorText, sentence } from '../../state/sentences.svelte';
import { NewRule } from './newrule.svelte';

/** What is missing before an answer can go. */
export type Lack = '' | 'typed' | 'check' | 'same' | 'bad' | 'empty';

/** A question of the gatekeeper's on the table: what was chosen, and what the choice needs. */
export class Permission implements Controller {
  typed = $state('');
  check = $state('');
  difference = $state.raw<Difference | undefined>();
  comparing = $state(false);
  /** Why the difference could not be read. */
  trouble = $state('');
  newRule = $state.raw<NewRule | undefined>();
  /** What the gatekeeper says beside the question is here, or could not be had: then why. */
  beside = $state<'' | 'loaded' | 'missing' | 'failed'>('');
  besideWhy = $state('');
  /** Why the call cannot run in a box here, where it otherwise could. */
  noBox = $state('');
  /** The files that changed are kept as they were shown. */
  canPutBack = $state(false);
  /** Why the last try to answer was not even sent. */
  lack = $state<Lack>('');
  /** The last choice that was sent. */
  sent = $state<ChoiceAction | ''>('');
  #picked = $state<ChoiceAction | ''>('');

  readonly question = $derived.by<Question | undefined>(() => questionOf(this.opened.op));
  readonly choices = $derived.by<GateChoice[]>(() => {
    const all = this.question ? choicesOf(this.question.verdict) : [];
    // Refusing, and allowing something else, can be chosen whatever is offered.
    const stops: GateChoice[] = all.some((choice) => choice.action === 'deny') ? [] : [{ action: 'deny', label: '', default: true }];
    const last = all.at(-1);
    const changes: GateChoice[] = last?.action === 'allow' && !all.some((choice) => choice.action === 'change') ? [{ action: 'change', label: '' }] : [];
    const offered = [...stops, ...all.slice(0, -1), ...changes, ...all.slice(-1)];
    return this.opened.barred ? offered.filter((choice) => !runs(choice.action)) : offered;
  });
  /** What is chosen; before anybody did, what is safe to. */
  readonly picked = $derived.by<ChoiceAction>(() => this.#picked || (this.choices.find((choice) => choice.default && !runs(choice.action))?.action ?? 'deny'));
  /** Whether words must be typed for what is chosen. */
  readonly must = $derived.by<boolean>(() => runs(this.picked) && this.question?.verdict.form === 'input');
  readonly checks = $derived.by<boolean>(() => runs(this.picked) && !!this.question?.check);
  /** The rule goes with the answer: only with one that says the same of this call. */
  readonly rules = $derived.by<boolean>(() => !!this.newRule?.on && this.newRule.ready && this.picked === this.newRule.decision);
  /** What the chosen answer still needs. */
  readonly wants = $derived.by<Lack>(() => {
    const question = this.question;
    if (!question || !runs(this.picked)) return '';
    if (this.picked === 'change' && this.#changed() === undefined) return this.args.trim() ? 'bad' : 'empty';
    if (this.picked === 'change' && this.args === argsText(question)) return 'same';
    const must = question.verdict.input?.must;
    if (this.must && (must ? this.typed !== must : !this.typed.trim())) return 'typed';
    return this.checks && !this.check ? 'check' : '';
  });

  constructor(private readonly opened: OpenOperation) {}

  /** The arguments as they are being changed. They are kept with the draft. */
  get args(): string {
    return this.opened.draft.form.fields.args ?? (this.question ? argsText(this.question) : '');
  }

  set args(text: string) {
    this.opened.draft.form.fields.args = text;
    this.lack = '';
    this.opened.draft.touch();
  }

  /** Asks the gatekeeper for what it says beside the question. */
  async load(): Promise<void> {
    const op = this.opened.op;
    if (!op || ended(op) || this.beside === 'loaded') return;
    try {
      const view = await this.opened.app.api.gate.question(this.opened.id);
      const of = { session: view.session_id || op.session_id, project: view.root || view.project?.root };
      if (view.standing && !this.newRule) this.newRule = new NewRule(this.opened.app.api, view.standing, of, Date.now());
      this.canPutBack = !!view.put_back;
      this.noBox = view.box?.reason ? sentence(view.box.reason) : '';
      this.beside = 'loaded';
    } catch (error) {
      this.beside = error instanceof Problem && error.missing ? 'missing' : 'failed';
      this.besideWhy = errorText(error);
    }
  }

  choose(action: ChoiceAction): void {
    if (action === this.picked) return;
    this.#picked = action;
    this.lack = '';
    // The button that answers now lets something grave run: a press that was meant for the choice before must not.
    if (this.question && risky(action, this.question.verdict)) this.opened.arming.start();
  }

  /** Answers as chosen. A difference is looked at, and asked about again. */
  async answer(): Promise<boolean> {
    const action = this.picked;
    if (action === 'difference') {
      await this.compare();
      return false;
    }
    this.lack = this.wants;
    if (this.lack) {
      void tick().then(() => this.opened.focus('answer'));
      return false;
    }
    return this.#send(action);
  }

  refuse(): Promise<boolean> {
    return this.#send('deny');
  }

  /** Lets exactly this call run, where that takes no more than a click. A call that is being changed is not run as it was. */
  allow(): Promise<boolean> {
    const op = this.opened.op;
    if (this.picked === 'change') return this.answer();
    return op && mild(op) ? this.#send('allow') : Promise.resolve(false);
  }

  /** Puts the files that changed back, and goes to the question that is asked then. Returns what went wrong. */
  async putBack(): Promise<string> {
    const op = this.opened.op;
    if (!op) return '';
    try {
      const next = await this.opened.app.api.gate.putBack(op.operation_id, op.digest);
      this.opened.app.operations.refresh(op.operation_id);
      if (this.opened.app.route.id === op.operation_id) this.opened.app.route.go('inbox', next.operation_id);
      return '';
    } catch (error) {
      return errorText(error);
    }
  }

  async compare(): Promise<void> {
    if (this.comparing) return;
    this.comparing = true;
    this.trouble = '';
    try {
      this.difference = await this.opened.app.api.gate.difference(this.opened.id);
    } catch (error) {
      this.trouble = errorText(error);
    } finally {
      this.comparing = false;
      this.#picked = '';
      // What is below has moved.
      this.opened.arming.start();
    }
  }

  #changed(): JsonObject | undefined {
    return this.question && argsFrom(this.question, this.args);
  }

  async #send(choice: AnswerChoice): Promise<boolean> {
    const op = this.opened.op;
    if (!op) return false;
    const reason = this.opened.draft.form.human_input.trim();
    const answer: PermissionAnswer = {
      choice,
      digest: op.digest,
      ...(reason && { reason }),
      ...(runs(choice) && this.question?.verdict.form === 'input' && { typed: this.typed }),
      ...(runs(choice) && this.check && { check: this.check }),
      ...(choice === 'change' && { args: this.#changed() }),
      ...(this.rules && choice === this.picked && { rule: this.newRule?.rule(Date.now()) }),
    };
    this.sent = choice;
    // A draft that is saved after the answer would only confuse: the answer goes first.
    this.opened.draft.pause();
    const done = await this.opened.app.answering.permit(op, answer);
    if (done) this.opened.draft.sent();
    else void this.opened.draft.save();
    const next = this.opened.app.answering.again.get(op.operation_id);
    if (next && this.opened.app.route.id === op.operation_id) this.opened.app.route.go('inbox', next);
    return done;
  }

  close(): void {
    this.newRule?.stop();
  }

  /** What can be done, as commands. What is grave has no key: it is chosen, and then answered. */
  commands(): Command[] {
    const when = (): boolean => this.opened.ready;
    return [
      { id: 'answer', label: () => answerWord(this.picked, this.rules), keys: ['Mod+Enter'], group: 'answer', when: () => when() && !this.comparing, risky: () => !!this.question && risky(this.picked, this.question.verdict), run: () => void this.answer() },
      { id: 'refuse', label: m.perm_deny, keys: ['d'], group: 'answer', when, run: () => void this.refuse() },
      { id: 'allow', label: m.perm_allow, keys: ['a'], group: 'answer', when: () => when() && !!this.opened.op && mild(this.opened.op), run: () => void this.allow() },
      ...[1, 2, 3, 4, 5, 6, 7].map((n) => this.#choice(n)),
    ];
  }

  #choice(n: number): Command {
    const choice = (): GateChoice | undefined => {
      const one = this.choices[n - 1];
      return one && this.question && !risky(one.action, this.question.verdict) ? one : undefined;
    };
    return {
      id: `choose-${n}`,
      label: () => m.cmd_choose({ n, what: choiceWord(choice()?.action ?? 'deny') }),
      keys: [String(n)],
      group: 'answer',
      when: () => this.opened.ready && !!choice(),
      run: () => this.choose(choice()?.action ?? 'deny'),
    };
  }
}
