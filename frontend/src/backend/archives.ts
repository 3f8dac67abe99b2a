import { call, type Connection } from './http';
import type { Archive, ArchiveDifference, ArchiveState } from '../lib/wire';

/** The calls about backups of Deskbell's data. Each throws a Problem and nothing else. Only the settings need them. */
export class ArchivesApi {
  constructor(private readonly to: Connection) {}

  state(): Promise<ArchiveState> {
    return call(this.to, 'GET', '/api/archives');
  }

  /** Makes one; it resolves once that is verified. */
  make(): Promise<Archive> {
    return call(this.to, 'POST', '/api/archives', {});
  }

  /** What one has, and how it differs from today; of the operations that are missing today those with this text. */
  show(id: string, text: string): Promise<ArchiveDifference> {
    return call(this.to, 'GET', `/api/archives/${encodeURIComponent(id)}?q=${encodeURIComponent(text)}`);
  }

  /** Brings back operations that are missing today. */
  restore(id: string, operations: string[]): Promise<unknown> {
    return call(this.to, 'POST', `/api/archives/${encodeURIComponent(id)}/restore`, { operations });
  }
}
