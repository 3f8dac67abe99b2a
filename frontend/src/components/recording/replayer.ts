// Loaded only when somebody looks at a film.
import 'rrweb/dist/style.css';

export { Replayer } from 'rrweb';
