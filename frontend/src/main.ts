import './app.css';
import { mount } from 'svelte';
import App from './views/App.svelte';
import { language } from './state/locale.svelte';
import { theme } from './state/theme.svelte';

language.apply();
theme.apply();

const target = document.getElementById('app');
if (target) mount(App, { target });
