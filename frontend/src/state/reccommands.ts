import { m } from '../paraglide/messages';
import type { Command } from './commands.svelte';
import type { AppState } from './app.svelte';

/** What can be done with the recording that runs, from anywhere. */
export function recorderCommands(app: AppState): Command[] {
  const recorder = app.recorder;
  const may = app.may('POST /api/recordings');
  const when = (): boolean => may && recorder.current !== null && !recorder.busy;
  return [
    { id: 'record-pause', label: () => (recorder.paused ? m.rec_cmd_go_on() : m.rec_cmd_pause()), keys: ['p', 'Shift+p'], group: 'answer', when, run: () => void (recorder.paused ? recorder.resume() : recorder.pause()) },
    { id: 'record-mark', label: m.rec_mark, keys: ['m'], group: 'answer', when: () => may && recorder.current !== null && !recorder.paused, run: () => void recorder.flag() },
    { id: 'record-stop', label: m.rec_cmd_stop, keys: ['Mod+.'], group: 'answer', when, run: () => void recorder.stop() },
    { id: 'record-discard', label: m.rec_discard_more, keys: ['Mod+Shift+Backspace'], group: 'answer', when, run: () => app.dialogs.open({ kind: 'discard' }) },
    { id: 'record-go', label: m.rec_cmd_go, keys: [], group: 'go', when: () => recorder.current !== null, run: () => app.route.go('inbox', recorder.current?.operation_id) },
  ];
}
