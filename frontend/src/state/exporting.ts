import type { Api, ExportFormat } from '../backend/api';
import { errorText } from './sentences.svelte';

export type { ExportFormat };

/** Makes a file of a recording and saves it where the operator keeps such files. `name` is '' when none was saved. */
export async function exportRecording(api: Api, id: string, format: ExportFormat, language: string): Promise<{ name: string; trouble: string }> {
  try {
    return { name: await api.exportRecording(id, format, language), trouble: '' };
  } catch (error) {
    return { name: '', trouble: errorText(error) };
  }
}
