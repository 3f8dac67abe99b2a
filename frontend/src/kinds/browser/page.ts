export { default as Decide } from '../../components/operation/DecideAnswer.svelte';
export { default as View } from './View.svelte';
