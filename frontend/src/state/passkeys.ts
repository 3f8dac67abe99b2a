import type { Api } from '../backend/api';
import { StepUpApi } from '../backend/stepup';

export { passkeysWork } from '../backend/stepup';

/** Whether an authenticator or its user said no, or the time was up. */
export const passkeyRefused = (error: unknown): boolean => error instanceof DOMException;

/** The calls of step-up; loaded only with what makes them. */
export const stepUpOf = (api: Api): StepUpApi => new StepUpApi(api.to);
