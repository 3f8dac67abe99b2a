/** What the verdicts on the focus areas come to. */
export function suggestedVerdict(areas: number, focus: readonly { verdict: string }[]): 'approve' | 'request_changes' | 'comment' {
  if (focus.some(({ verdict }) => verdict === 'problem')) return 'request_changes';
  return areas > 0 && focus.filter(({ verdict }) => verdict === 'good').length === areas ? 'approve' : 'comment';
}
