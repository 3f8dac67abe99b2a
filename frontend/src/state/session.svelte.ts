import { Problem } from '../backend/http';
import { findSession, signIn, type Session } from '../backend/session';

export type { Session };

export type SignInState = 'looking' | 'asking' | 'trying' | 'in';
export type SignInTrouble = '' | 'refused' | 'used' | 'offline';

/** Finds or asks for the operator's session. */
export class SignIn {
  state = $state<SignInState>('looking');
  trouble = $state<SignInTrouble>('');
  session = $state.raw<Session | null>(null);
  /** Why this phone does not come in; null where this is no phone's page. */
  phone = $state.raw<Problem | null>(null);

  constructor(state: SignInState = 'looking') {
    this.state = state;
  }

  /** Makes ready for another sign-in. */
  reset(): void {
    this.session = null;
    this.trouble = '';
    this.state = 'asking';
  }

  async look(): Promise<void> {
    this.state = 'looking';
    const { session, refused, phone } = await findSession();
    this.phone = phone ?? null;
    if (session) this.#enter(session);
    else {
      this.trouble = refused ? 'used' : '';
      this.state = 'asking';
    }
  }

  async try(code: string): Promise<void> {
    this.state = 'trying';
    this.trouble = '';
    try {
      this.#enter(await signIn(code));
    } catch (error) {
      this.trouble = error instanceof Problem && error.offline ? 'offline' : 'refused';
      this.state = 'asking';
    }
  }

  #enter(session: Session): void {
    this.session = session;
    this.state = 'in';
  }
}
