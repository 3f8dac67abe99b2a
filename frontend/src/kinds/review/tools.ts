export { changeOf } from './change';
export { Colours } from './colours.svelte';
export { rowsOf, treeOf } from './rows';
