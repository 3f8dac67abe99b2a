import { m } from '../../paraglide/messages';
import View from './Beside.svelte';

export { default as Decide } from './Decide.svelte';
export { default as Facts } from './Facts.svelte';
export { default as View } from './View.svelte';
export const Beside = { View, tab: m.box_the, group: m.perm_beside };
