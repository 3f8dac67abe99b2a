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
