import type { parts } from '../../lib/clients';
import { m } from '../../paraglide/messages';

/** What connecting gives. */
export const partWords: Record<(typeof parts)[number], { name: () => string; text: () => string }> = {
  tools: { name: m.connect_tools, text: m.connect_tools_text },
  hook: { name: m.connect_hook, text: m.connect_hook_text },
  permission: { name: m.connect_permission, text: m.connect_permission_text },
};
