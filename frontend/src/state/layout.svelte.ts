/** How much room there is, in CSS pixels, so that zooming in counts as a smaller window. */
class Layout {
  width = $state(window.innerWidth);
  /** Whether anybody can see the page. */
  visible = $state(document.visibilityState === 'visible');
  /** Whether the keyboard is the page's. */
  focused = $state(document.hasFocus());
  /** List, operation and side stand beside each other. */
  readonly wide = $derived(this.width >= 1120);
  /** One column: the list, or the operation. */
  readonly narrow = $derived(this.width < 760);

  start(): () => void {
    const read = (): void => {
      this.width = window.innerWidth;
      this.visible = document.visibilityState === 'visible';
      this.focused = document.hasFocus();
    };
    window.addEventListener('resize', read);
    window.addEventListener('focus', read);
    window.addEventListener('blur', read);
    document.addEventListener('visibilitychange', read);
    return () => {
      window.removeEventListener('resize', read);
      window.removeEventListener('focus', read);
      window.removeEventListener('blur', read);
      document.removeEventListener('visibilitychange', read);
    };
  }
}

export const layout = new Layout();
