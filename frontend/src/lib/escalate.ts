/** How often a request has been due to be shown again that has waited so long: once in each `every`, at most `times`; all in milliseconds. */
export function dueAgain(waited: number, every: number, times: number): number {
  return every > 0 && waited > 0 ? Math.min(times, Math.floor(waited / every)) : 0;
}
