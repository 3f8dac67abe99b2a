/** How long to wait, in milliseconds, before a part of the page is loaded a second and a third time. */
const waits = [300, 1500];

/**
 * Loads a part of the page, with three tries: a browser gives up what it loads when its network changes, as a phone's often does.
 * Rejects with what the last try failed of.
 */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  for (const wait of waits) {
    try {
      return await load();
    } catch {
      await new Promise((resume) => setTimeout(resume, wait));
    }
  }
  return load();
}

/**
 * Loads what the page cannot start without. Where that fails for good, the whole page is reloaded, up to three times: many browsers
 * remember of a module that it failed, for as long as the page stands. Rejects after the last.
 */
export async function loadOrReload<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (err) {
    const times = Number((window.history.state as { reloads?: number } | null)?.reloads ?? 0);
    if (times >= 3) throw err;
    window.history.replaceState({ reloads: times + 1 }, '');
    window.location.reload();
    return new Promise(() => undefined); // the page ends here
  }
}
