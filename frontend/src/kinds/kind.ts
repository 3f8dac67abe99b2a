import type { Component, Snippet } from 'svelte';
import type { Shade } from '../lib/statistics';
import type { Answer, Operation, TimelineEvent } from '../lib/wire';
import type { Batch } from '../state/batch.svelte';
import type { Command } from '../state/commands.svelte';
import type { OpenOperation } from '../state/openoperation.svelte';
import type { OpenRecording } from '../state/recording.svelte';
import type { Offering } from './procedure/offering.svelte';

export type { Offering };

/** A component in a file of its own, which is loaded when it is first shown. */
export type Part<P extends object> = () => Promise<{ default: Component<P> }>;

/** What the parts of a page get. */
export type OnPage = { op: Operation; opened: OpenOperation };

/** What a card gets: it names itself by an element with titleId, and has the keys while it is in front. */
export type OnCard = OnPage & { titleId: string; front: boolean; open: () => void };

/** What answers several operations at once; `rest` draws the buttons that every kind has. */
export type OnBatch = { batch: Batch; chosen: Operation[]; rest: Snippet };

/** The page of one operation. Its parts come in one file: nothing can be pressed before all of them are there. */
export interface PageParts {
  /** What is asked for; without it all that was sent is drawn by what it is. */
  View?: Component<OnPage>;
  /** Where it is answered. */
  Decide: Component<OnPage>;
  /** In place of View once it has ended. */
  After?: Component<OnPage>;
  /** Under the page while it goes on after its answer. */
  Orders?: Component<OnPage>;
  /** In place of the risk and the short facts under its title. */
  Facts?: Component<OnPage>;
  /** Beside it, before the conversation: behind a tab of its own, or above while it is open. */
  Beside?: { View: Component<OnPage>; tab?: () => string; group?: () => string };
}

/** What a kind keeps of one operation that is on screen. */
export interface Controller {
  /** How it is answered, as commands. Kind and risk never change, so neither does the list. */
  commands(): Command[];
  /** Whether it may be answered by everybody, whoever has claimed it. */
  readonly shared?: boolean;
  /** Lines that were written beside the fields of an answer, and would be lost with it. */
  unsent?(): string[];
  /** Called whenever actions of one of its recordings were read. */
  follow?(open: OpenRecording): void;
  /** Called when the operation is left. */
  close?(): void;
}

/** Says something with `own` where the operator did it, and with `other` where somebody else did. */
export type By = (own: () => string, other: (of: { name: string }) => string) => string;

/** How the history shows one kind alone. */
export interface KindHistory {
  label: () => string;
  about: () => string;
  figures: Part<{ days: number }>;
  /** The ways in which it ends; '' is any. */
  ends: readonly { value: string; label: () => string }[];
  /** Finds those that ended in one of these ways. */
  query(end: string): { state: 'closed' } & Record<string, string>;
}

/**
 * One kind of operation: all that the console knows of it. Definitions are loaded with the window and stay small; what they
 * draw is loaded by import(). What is left out is as it is for most kinds.
 */
export interface KindDefinition {
  label: () => string;
  /** A path on a grid of 24, drawn with a line of 1.5. */
  icon: string;
  /** How the history's figures count it. */
  shade: Shade;
  /** How it is answered: by a decision, by words in its own view, or in the form that serves every kind of work. */
  answer: 'decision' | 'words' | 'form';
  /** Where an operator works on it. Such work, once recorded, is answered with findings; on a screen or in a browser a recorder is offered. */
  work?: 'terminal' | 'screen' | 'browser';

  page: () => Promise<PageParts>;
  card: Part<OnCard>;
  /** Its card is answered in place: once something is chosen or written, Enter sends that instead of opening the request. */
  cardSends?: boolean;
  batch: Part<OnBatch>;
  /** Why one of several cannot be answered in favour together with the others, in a word or two; '' where it can. */
  alone?: (op: Operation) => string;
  /** What the user told the agent, where a request of this kind says so beside `context.task`. */
  task?: (op: Operation) => string | undefined;
  /** Under the sentence that says how it ended. */
  end?: Part<{ op: Operation }>;
  /** In a row of the inbox while it goes on after its answer. */
  tag?: Part<{ op: Operation }>;
  /** Above its page, where that has the whole width. */
  bar?: Part<{ op: Operation }>;
  settings?: Part<Record<string, never>>;
  history?: KindHistory;

  /** Its recording is that of a run, which Deskbell makes: the page offers no other, and does not show it beside. */
  recordsItself?: boolean;
  /** Its page has the whole width; 'beside' gives more of it to what stands beside. */
  wide?: 'page' | 'beside';
  /** It may go on after its answer, and is listed as long as it does. */
  goesOn?: boolean;
  /** The words of lists are made from its details, which lists do not carry. */
  needsDetails?: boolean;
  /** Whether an entry of its context is shown. */
  showsContext?: (name: string) => boolean;

  /** Its title, and who asks from where, in the language of the page; '' as it was sent. */
  title?: (op: Operation) => string;
  place?: (op: Operation) => string;
  /** What runs once it is approved, as lists of several show it. */
  runs?: (op: Operation) => string;
  /** How it ended, in a word; '' as for every kind. */
  outcome?: (op: Operation) => string;
  /** What came of it, in a line of the history. */
  gist?: (op: Operation, operator: string) => string;
  /** What ended it, in a sentence. */
  ending?: (op: Operation, by: string, time: string) => string;
  /** Whether it ended as it was wished. */
  good?: (op: Operation) => boolean;
  /** What its card says once an approval was sent. */
  sent?: (of: { digest: string }) => string;
  /** The button that sends the form. */
  send?: () => string;
  /** An event of its timeline, as a sentence; '' as for every kind. */
  event?: (event: TimelineEvent, op: Operation, by: By) => string;

  /** Questions of its form that its own view asks. */
  asks?: (op: Operation) => readonly string[];
  /** Where it is answered by more than a form. */
  controller?: (opened: OpenOperation) => Controller;
  /** What may do its work in place of an operator. */
  offering?: () => Promise<{ Offering: new (opened: OpenOperation) => Offering }>;
  /** What its parts share, put into the context of the page: called while the page is made. */
  provide?: (opened: OpenOperation) => void;
  /** Completes an answer before it is sent. */
  complete?: (op: Operation, answer: Answer) => Answer;
  /** Whether a command has its place on the card. */
  onCard?: (command: string, op: Operation, opened: OpenOperation) => boolean;
}
