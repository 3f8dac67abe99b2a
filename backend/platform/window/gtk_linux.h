// What window_linux.go asks of GTK. Every call runs on GTK's main thread and blocks until it has run.
// They return 0 when done, -1 without a window, -2 when the main loop did not answer in time.

typedef struct {
	int place, keep_above, no_focus, hotkey, record_keys, transparent;
} db_abilities;

int db_prepare(int start_hidden);
int db_adopt(void);
int db_able(db_abilities *out);
int db_screen(int *x, int *y, int *w, int *h);
int db_popup(int x, int y, int w, int h, int pad);
int db_console(int w, int h, int min_w, int min_h);
int db_hide(void);
int db_focus(void);
void db_close(void);
// Of the console, whether it is shown or not; -1 while none is known. It counts at once where the console is shown.
int db_set_place(int x, int y, int w, int h, int maximized);
int db_get_place(int *x, int *y, int *w, int *h, int *maximized);
// The part of the n-th monitor that panels leave free; -1 past the last.
int db_monitor(int n, int *x, int *y, int *w, int *h);
