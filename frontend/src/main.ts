import './app.css';
import { mount } from 'svelte';
import App from './views/App.svelte';
import { startKeyGuard } from './state/guard';
import { startKeyboard } from './state/keyboard';
import { language } from './state/locale.svelte';
import { theme } from './state/theme.svelte';
import { appWindow } from './state/window.svelte';

theme.apply();
startKeyGuard();
startKeyboard();
appWindow.start();

await language.apply();
const target = document.getElementById('app');
if (target) mount(App, { target });
