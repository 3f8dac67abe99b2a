/** What is known of a request that waits, and of how the operator would learn of it. */
export interface Waiting {
  /** The console has the focus and shows the inbox. */
  inFront: boolean;
  /** A card of it is drawn in a window that can be seen. */
  card: boolean;
  /** Somebody has seen it. */
  seen: boolean;
  /** Seconds since its card appeared, or since the operator was last at the cards. */
  waited: number;
  /** The setting notifications.after. */
  after: number;
  /** Another request has a notification up. */
  another: boolean;
}

/**
 * Whether a request needs the system's notification: 'now', 'later' where its card may still be seen, or 'known' where the
 * operator knows of it without. Beside cards there is one notification at most: it stands for all of them.
 */
export function interruption({ inFront, card, seen, waited, after, another }: Waiting): 'now' | 'later' | 'known' {
  if (seen || inFront) return 'known';
  if (!card) return 'now';
  return waited < after || another ? 'later' : 'now';
}
