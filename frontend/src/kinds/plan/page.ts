import View from './Beside.svelte';

export { default as After } from './After.svelte';
export { default as Decide } from './Decide.svelte';
export { default as Facts } from './Facts.svelte';
export { default as Orders } from './Orders.svelte';
export { default as View } from './View.svelte';
export const Beside = { View };
