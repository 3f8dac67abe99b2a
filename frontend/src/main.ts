import './app.css';
import { mount } from 'svelte';
import { loadOrReload } from './lib/loading';
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

const target = document.getElementById('app');
await loadOrReload(() => language.apply()).catch((err: unknown) => {
  // There are no messages to say it with.
  if (target) target.textContent = 'Deskbell could not be loaded. Reload the page. 无法加载 Deskbell，请重新加载页面。';
  throw err;
});
if (target) mount(App, { target });
