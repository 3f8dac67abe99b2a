import { vi } from 'vitest';

// What the page asks its window for when its modules are read.
vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => undefined });
vi.stubGlobal('document', { documentElement: {} });
