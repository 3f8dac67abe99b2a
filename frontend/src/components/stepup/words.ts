import type { ProofMeans, SystemCheck } from '../../lib/wire';
import { m } from '../../paraglide/messages';

/** What is done once the proof is there, by the word that the server has for it. */
export const acts: Readonly<Record<string, () => string>> = {
  approve: m.approve, answer: m.proof_act_answer, allow: m.proof_act_allow, backup: m.proof_act_allow, change: m.proof_act_allow,
  confirm: m.proof_act_confirm, modify: m.proof_act_confirm, delete: m.proof_act_delete, key: m.agents_add,
  policy: m.proof_act_policy, settings: m.proof_act_policy, pin: m.proof_act_means, no_pin: m.proof_act_means, system: m.proof_act_means,
  passkey: m.proof_act_means, no_passkey: m.proof_act_means, notices: m.stepup_seen, receipt_key: m.rkey_new_verb, phone: m.proof_continue, pair: m.proof_continue,
  run: m.proc_run, team_invite: m.proof_act_team_invite, team_remove: m.proof_act_team_remove,
};

/** What a means is called; the system's check has the name that it has on that system. */
export function meansName(means: ProofMeans, check: SystemCheck | undefined): string {
  if (means !== 'system') return { passkey: m.proof_passkey, pin: m.proof_pin }[means]();
  return { password: m.proof_system, hello: m.proof_system_hello, touch_id: m.proof_system_touch_id }[check ?? 'password']();
}

export const meansWords: Readonly<Record<ProofMeans, { text: () => string; waiting: () => string; icon: 'passkey' | 'lock' | 'pin' }>> = {
  passkey: { text: m.proof_passkey_text, waiting: m.proof_passkey_waiting, icon: 'passkey' },
  system: { text: m.proof_system_text, waiting: m.proof_system_waiting, icon: 'lock' },
  pin: { text: m.proof_pin_text, waiting: m.proof_pin_waiting, icon: 'pin' },
};
