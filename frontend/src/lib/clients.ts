/** What connecting can give a client, in the order of the list. */
export const parts = ['tools', 'hook', 'permission'] as const;
