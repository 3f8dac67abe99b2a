// Loaded only when a terminal is shown.
import '@xterm/xterm/css/xterm.css';
import { FitAddon } from '@xterm/addon-fit';
import { WebglAddon } from '@xterm/addon-webgl';
import { Terminal, type IDisposable, type IMarker, type ITheme } from '@xterm/xterm';
import { EnterGuard, gutter, shellMark, type GutterRow, type Mark } from '../../lib/terminal';
import type { TerminalCommand } from '../../lib/wire';
import type { TerminalSize } from '../../backend/terminal';
import type { Drawn } from './terminal.svelte';

/** What is drawn beside the rows of the screen. Rows count from the top of what is shown; cells from the left. */
export interface Beside {
  rows: GutterRow[];
  /** Where input was not shown. */
  masked: { row: number; cell: number }[];
  /** The row of the cursor; -1 where it is not shown. */
  cursor: number;
  cell: { w: number; h: number };
}

export interface Hooks {
  typed(text: string): void;
  binary(text: string): void;
  resized(size: TerminalSize): void;
  /** Whether the shell waits for a command. */
  prompting(yes: boolean): void;
  leave(): void;
  beside(beside: Beside): void;
  /** The words for the field that takes the keys. */
  label: string;
}

const colours = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;

/** The theme of the page as xterm takes it: plain colours. The ground is the page's own, which shines through. */
function themeOf(element: HTMLElement): ITheme {
  const probe = element.appendChild(document.createElement('i'));
  const read = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const clear = (colour: string, alpha: number): string => colour.replace(/^rgb\((.*)\)$/, `rgba($1, ${alpha})`);
  const theme: ITheme = {
    background: clear(read('sunken'), 0), foreground: read('text'), cursor: read('ink'), cursorAccent: read('on-ink'), selectionBackground: clear(read('text'), 0.22),
    scrollbarSliderBackground: clear(read('text'), 0.16), scrollbarSliderHoverBackground: clear(read('text'), 0.3), scrollbarSliderActiveBackground: clear(read('text'), 0.4),
  };
  for (const colour of colours) {
    const bright = `bright${colour[0]?.toUpperCase()}${colour.slice(1)}` as keyof ITheme;
    theme[colour] = read(`ansi-${colour}`);
    Object.assign(theme, { [bright]: read(colour === 'black' || colour === 'white' ? `ansi-bright-${colour}` : `ansi-${colour}`) });
  }
  probe.remove();
  return theme;
}

/** What a program may not do to the window by printing: links it made up, the clipboard, titles, the colours that its text is read in. */
const ignored = [0, 1, 2, 4, 8, 10, 11, 12, 17, 19, 52, 104, 110, 111, 112];

/** Whether a key gives the keyboard back to the page. Windows keeps the first chord to itself. */
const leaves = (event: KeyboardEvent): boolean => event.ctrlKey && event.shiftKey && !event.altKey && (event.key === 'Escape' || event.key === 'F6');

const arming = 500;

/** Names of what draws without a graphics card. */
const imitated = /swiftshader|llvmpipe|softpipe|software|basic render/i;

interface Placed {
  id: string;
  start: IMarker;
  end?: IMarker;
}

/** A terminal in an element of the page. */
export class Xterm implements Drawn {
  readonly #term: Terminal;
  readonly #fit = new FitAddon();
  readonly #guard = new EnterGuard(() => performance.now());
  readonly #observer: ResizeObserver;
  readonly #off: IDisposable[] = [];
  #prompt: IMarker | undefined;
  #placed: Placed[] = [];
  #masked: { marker: IMarker; cell: number }[] = [];
  #commands: readonly TerminalCommand[] = [];
  #echo = true;
  #waiting = 0;
  #frame = 0;
  #shown = '';

  constructor(
    private readonly host: HTMLElement,
    private readonly hooks: Hooks,
  ) {
    const style = getComputedStyle(host);
    this.#term = new Terminal({
      fontFamily: style.fontFamily, fontSize: parseFloat(style.fontSize), lineHeight: 1.35, scrollback: 10_000, allowTransparency: true, minimumContrastRatio: 4.5,
      cursorBlink: false, macOptionIsMeta: true, theme: themeOf(host), linkHandler: { activate: () => undefined },
    });
    this.#term.loadAddon(this.#fit);
    for (const code of ignored) this.#term.parser.registerOscHandler(code, () => true);
    this.#term.parser.registerOscHandler(133, (body) => {
      this.#mark(body);
      return true;
    });
    this.#term.attachCustomKeyEventHandler((event) => this.#key(event));
    this.#term.open(host);
    this.#term.textarea?.setAttribute('aria-label', hooks.label);
    this.#accelerate();
    this.#off.push(
      this.#term.onData((text) => hooks.typed(text)),
      this.#term.onBinary((text) => hooks.binary(text)),
      this.#term.onResize(({ cols, rows }) => hooks.resized({ cols, rows })),
      this.#term.onRender(() => this.#look()),
      this.#term.onScroll(() => this.#look()),
    );
    // All keys are the shell's while it has the keyboard: none of the page's commands hears them.
    host.addEventListener('keydown', (event) => event.stopPropagation());
    this.#observer = new ResizeObserver(() => this.fit());
    this.#observer.observe(host);
    this.fit();
  }

  get size(): TerminalSize {
    return { cols: this.#term.cols, rows: this.#term.rows };
  }

  get bracketed(): boolean {
    return this.#term.modes.bracketedPasteMode;
  }

  /** Lets a screen reader read what is printed, at the cost of speed. */
  set reader(on: boolean) {
    this.#term.options.screenReaderMode = on;
  }

  /** What the gutter says of the commands. */
  set commands(commands: readonly TerminalCommand[]) {
    this.#commands = commands;
    this.#look();
  }

  /** Takes the colours of the page as they are now. */
  paint(): void {
    this.#term.options.theme = themeOf(this.host);
  }

  fit(): void {
    const size = this.#fit.proposeDimensions();
    if (size && size.cols > 1 && size.rows > 1) this.#term.resize(size.cols, size.rows);
    this.#look();
  }

  clear(): void {
    this.#term.reset();
    this.#prompt = undefined;
    this.#placed = [];
    this.#masked = [];
    this.#echo = true;
    this.hooks.prompting(false);
    this.hooks.resized(this.size);
  }

  write(bytes: Uint8Array, drawn: (idle: boolean) => void): void {
    this.#waiting++;
    this.#term.write(bytes, () => drawn(--this.#waiting === 0));
  }

  echo(on: boolean): void {
    // After all that was printed before it.
    this.#term.write('', () => {
      this.#echo = on;
      this.#look();
    });
  }

  focus(typed: boolean): void {
    if (typed) this.#guard.arm(arming);
    this.#term.scrollToBottom();
    this.#term.focus();
  }

  dispose(): void {
    cancelAnimationFrame(this.#frame);
    this.#observer.disconnect();
    for (const one of this.#off) one.dispose();
    this.#term.dispose();
  }

  /** Draws by the graphics card where there is one: a program that imitates one is slower than plain elements. */
  #accelerate(): void {
    const context = document.createElement('canvas').getContext('webgl2', { failIfMajorPerformanceCaveat: true });
    if (!context) return;
    // Chromium calls its own imitation no caveat.
    const said: unknown = context.getParameter(context.getExtension('WEBGL_debug_renderer_info')?.UNMASKED_RENDERER_WEBGL ?? context.RENDERER);
    context.getExtension('WEBGL_lose_context')?.loseContext();
    if (imitated.test(String(said))) return;
    try {
      const addon = new WebglAddon();
      addon.onContextLoss(() => addon.dispose());
      this.#term.loadAddon(addon);
    } catch {
      // Without it xterm draws by elements.
    }
  }

  #key(event: KeyboardEvent): boolean {
    if (event.type === 'keydown' && leaves(event)) {
      event.preventDefault();
      this.hooks.leave();
      return false;
    }
    if (event.type === 'keydown' && event.ctrlKey && event.shiftKey && event.key.toLowerCase() === 'c') {
      event.preventDefault();
      document.execCommand('copy');
      return false;
    }
    if (event.type === 'keyup' || this.#guard.lets(event)) return true;
    event.preventDefault();
    return false;
  }

  /** The line of the cursor in the buffer. */
  get #line(): number {
    const { baseY, cursorY } = this.#term.buffer.active;
    return baseY + cursorY;
  }

  /** Notes where a prompt stands, and where commands begin and end. */
  #mark(body: string): void {
    const mark = shellMark(body);
    const { active } = this.#term.buffer;
    if (!mark) return;
    if (mark.is === 'input' || mark.is === 'begin') this.hooks.prompting(mark.is === 'input');
    if (active.type === 'alternate' || mark.is === 'input') return;
    if (mark.is === 'prompt') this.#prompt = this.#term.registerMarker(0);
    else if (mark.is === 'begin') {
      // A command begins with its prompt; without one, on the line that was ended.
      const line = this.#prompt && !this.#prompt.isDisposed ? this.#prompt.line : this.#line - 1;
      const start = this.#term.registerMarker(Math.max(0, line) - this.#line);
      if (start) this.#placed.push({ id: mark.id, start });
    } else if (mark.is === 'end') {
      const known = this.#placed.find(({ id }) => id === mark.id);
      if (known) known.end = this.#term.registerMarker(Math.max(known.start.line, this.#line - (active.cursorX > 0 ? 0 : 1)) - this.#line);
    }
  }

  /** While input is not shown, the place where it is not follows the cursor along its line. */
  #mask(): void {
    const { active } = this.#term.buffer;
    if (this.#echo || active.type === 'alternate' || active.cursorX === 0) return;
    const last = this.#masked.at(-1);
    const here = this.#line;
    if (last?.marker.line === here) last.cell = active.cursorX;
    else {
      const marker = this.#term.registerMarker(0);
      if (marker) this.#masked.push({ marker, cell: active.cursorX });
    }
  }

  #look(): void {
    this.#mask();
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#tell();
    });
  }

  #tell(): void {
    const screen = this.host.querySelector('.xterm-screen')?.getBoundingClientRect();
    if (!screen) return;
    const { cols, rows } = this.#term;
    const { active } = this.#term.buffer;
    const top = active.viewportY;
    const own = active.type === 'normal';
    const here = this.#line;
    this.#placed = this.#placed.filter(({ start }) => !start.isDisposed);
    this.#masked = this.#masked.filter(({ marker }) => !marker.isDisposed);
    const marks = this.#placed.map(({ id, start, end }): Mark => ({ id, line: start.line, end: end ? end.line : here }));
    // At the start of a line only as long as it lasts: after Enter the cursor stands at one, too, until the shell shows input again.
    const now = this.#echo || active.cursorX > 0 ? [] : [{ row: here - top, cell: 0 }];
    const beside: Beside = {
      rows: own ? gutter(marks, this.#commands, top, rows) : [],
      masked: own ? [...this.#masked.map(({ marker, cell }) => ({ row: marker.line - top, cell })), ...now].filter(({ row }) => row >= 0 && row < rows) : [],
      cursor: own && here - top < rows ? here - top : -1,
      cell: { w: screen.width / cols, h: screen.height / rows },
    };
    const said = JSON.stringify(beside);
    if (said === this.#shown) return;
    this.#shown = said;
    this.hooks.beside(beside);
  }
}
