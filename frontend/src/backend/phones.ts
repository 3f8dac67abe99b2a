import { call, type Connection } from './http';
import type { Pairing, PhoneState } from '../lib/wire';

const door = '/api/phone';

/** The calls about phones on the same network. Each throws a Problem and nothing else. */
export class PhonesApi {
  constructor(private readonly to: Connection) {}

  state(): Promise<PhoneState> {
    return call(this.to, 'GET', door);
  }

  allow(on: boolean): Promise<PhoneState> {
    return call(this.to, 'PUT', door, { on });
  }

  /** A QR code that lets one phone in, once. */
  pair(): Promise<Pairing> {
    return call(this.to, 'POST', `${door}/pairing`, {});
  }

  /** Lets a phone in again whose list was changed while Deskbell did not run. */
  confirm(id: string): Promise<PhoneState> {
    return call(this.to, 'POST', `${door}/devices/${encodeURIComponent(id)}/confirm`, {});
  }

  unpair(id: string): Promise<void> {
    return call(this.to, 'DELETE', `${door}/devices/${encodeURIComponent(id)}`);
  }
}
