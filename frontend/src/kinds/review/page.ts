import View from './Beside.svelte';

export { default as Decide } from './Decide.svelte';
export { default as View } from './View.svelte';
export const Beside = { View };
