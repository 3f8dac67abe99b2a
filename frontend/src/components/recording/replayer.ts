// Loaded only when a page replay is shown.
import 'rrweb/dist/style.css';

export { Replayer } from 'rrweb';
