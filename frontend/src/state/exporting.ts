import type { Api, ExportFormat } from '../backend/api';
import { shell } from '../backend/shell';
import { wordsOf } from './roster.svelte';

export type { ExportFormat };

const endings: Record<ExportFormat, string> = { html: 'html', markdown: 'zip', json: 'json' };

/** Makes a file of a recording and saves it where the operator keeps such files. */
export async function exportRecording(api: Api, id: string, format: ExportFormat, language: string): Promise<{ saved: boolean; name: string; trouble: string }> {
  try {
    const { bytes, name } = await api.exportRecording(id, format, language);
    const file = name || `${id}.${endings[format]}`;
    return { saved: await shell.save(file, bytes), name: file, trouble: '' };
  } catch (error) {
    return { saved: false, name: '', trouble: wordsOf(error) };
  }
}
