import { getContext, setContext } from 'svelte';
import { Tooltip, type TooltipTether } from 'bits-ui';

const key = Symbol('tooltips');

/** Makes one tooltip serve everything below. */
export const provideTooltips = (): TooltipTether<string> => setContext(key, Tooltip.createTether<string>());
export const useTooltips = (): TooltipTether<string> => getContext(key);
