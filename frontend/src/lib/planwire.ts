export type * from '../backend/wire';
