import { call, type Connection } from './http';
import type { PasskeyJSON, ProofClaim, ProofNeeded, ProofRequirements, StepUp } from './wire';

/** Whether this page can use passkeys at all: the desktop window's engine cannot. */
export const passkeysWork = (): boolean => typeof PublicKeyCredential === 'function' && typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function';

const json = (credential: Credential | null): PasskeyJSON => {
  if (!(credential instanceof PublicKeyCredential)) throw new DOMException('', 'NotAllowedError');
  return credential.toJSON() as PasskeyJSON;
};

/** What needs proof of presence, and what gives it. Each throws a Problem; what asks an authenticator, a DOMException too. */
export class StepUpApi {
  constructor(private readonly to: Connection) {}

  read(): Promise<StepUp> {
    return call(this.to, 'GET', '/api/stepup');
  }

  setRequirements(policy: ProofRequirements): Promise<StepUp> {
    return call(this.to, 'PUT', '/api/stepup/policy', policy);
  }

  setPIN(pin: string): Promise<StepUp> {
    return call(this.to, 'PUT', '/api/stepup/pin', { pin });
  }

  removePIN(): Promise<StepUp> {
    return call(this.to, 'DELETE', '/api/stepup/pin');
  }

  setSystem(on: boolean): Promise<StepUp> {
    return call(this.to, 'PUT', '/api/stepup/system', { on });
  }

  /** Has the browser make a passkey, and keeps it. */
  async addPasskey(name: string): Promise<StepUp> {
    const { options } = await call<{ options: PublicKeyCredentialCreationOptionsJSON }>(this.to, 'POST', '/api/stepup/passkeys/options', {});
    const made = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) });
    return call(this.to, 'POST', '/api/stepup/passkeys', { name, credential: json(made) });
  }

  removePasskey(id: string): Promise<StepUp> {
    return call(this.to, 'DELETE', `/api/stepup/passkeys/${encodeURIComponent(id)}`);
  }

  /** Says that the notices were seen. */
  clearNotices(): Promise<StepUp> {
    return call(this.to, 'DELETE', '/api/stepup/notices');
  }

  byPIN(needed: ProofNeeded, pin: string): Promise<string> {
    return this.#prove({ challenge: needed.challenge, means: 'pin', pin });
  }

  /** Waits while the operating system asks. */
  bySystem(needed: ProofNeeded): Promise<string> {
    return this.#prove({ challenge: needed.challenge, means: 'system' });
  }

  async byPasskey(needed: ProofNeeded): Promise<string> {
    const claim: ProofClaim = { challenge: needed.challenge, means: 'passkey' };
    const { options } = await call<{ options: PublicKeyCredentialRequestOptionsJSON }>(this.to, 'POST', '/api/stepup', claim);
    const signed = await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
    return this.#prove({ ...claim, assertion: json(signed) });
  }

  async #prove(claim: ProofClaim): Promise<string> {
    return (await call<{ proof: string }>(this.to, 'POST', '/api/stepup', claim)).proof;
  }
}
