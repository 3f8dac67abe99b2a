import { AttachmentsApi } from '../backend/attachments';
import type { Connection } from '../backend/http';
import type { Attachment } from '../lib/wire';
import { errorText } from './sentences.svelte';

/** Saves an attached file. Returns what went wrong, '' for nothing. */
export async function saveAttachment(to: Connection, file: Attachment): Promise<string> {
  try {
    await new AttachmentsApi(to).save(file);
    return '';
  } catch (error) {
    return errorText(error);
  }
}
