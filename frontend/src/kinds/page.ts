export { default as Decide } from '../components/operation/DecideAnswer.svelte';
