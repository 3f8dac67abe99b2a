// Loaded only when a recording of a terminal is shown.
import 'asciinema-player/dist/bundle/asciinema-player.css';

export { create, type Player } from 'asciinema-player';
