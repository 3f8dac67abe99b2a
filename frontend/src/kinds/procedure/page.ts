export { default as Decide } from './Decide.svelte';
export { default as Facts } from './Facts.svelte';
export { default as View } from './View.svelte';
