import { m } from '../../paraglide/messages';
import Beside from './Beside.svelte';

export { default as Decide } from '../../components/operation/DecideAnswer.svelte';
export { default as View } from './View.svelte';

const beside = { View: Beside, tab: m.term_tab, group: m.term_group };
export { beside as Beside };
