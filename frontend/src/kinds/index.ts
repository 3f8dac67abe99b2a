import { approve } from './approve';
import { bash } from './bash';
import { box } from './box';
import { browser } from './browser';
import { desktop } from './desktop';
import { feedback } from './feedback';
import type { kinds as names } from './fields';
import type { KindDefinition } from './kind';
import { newer } from './newer';
import { permission } from './permission';
import { plan } from './plan';
import { procedure } from './procedure';
import { review } from './review';

export type KindName = (typeof names)[number];

/** Every kind, in the order in which filters offer them. The names come from backend/kind: one without a definition is an error of types. */
const kinds: Record<KindName, KindDefinition> = { permission, box, plan, procedure, approve, feedback, bash, desktop, browser, review };

export const kindNames = Object.keys(kinds) as readonly KindName[];

const others = new Map<string, KindDefinition>();

/** The definition of a kind; of one that only a newer server knows, one that draws whatever was sent. */
export function kindOf({ action_type: name }: { action_type: string }): KindDefinition {
  if (Object.hasOwn(kinds, name)) return kinds[name as KindName];
  const known = others.get(name) ?? newer(name);
  others.set(name, known);
  return known;
}

export type { KindDefinition } from './kind';
