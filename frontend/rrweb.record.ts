/** What rrweb.build.ts makes a script of. */
export { record } from 'rrweb';
