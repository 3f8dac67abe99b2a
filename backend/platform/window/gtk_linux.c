#define _GNU_SOURCE
#include <dlfcn.h>
#include <gtk/gtk.h>
#include <string.h>
#include <wayland-client.h>
#ifdef GDK_WINDOWING_X11
#include <gdk/gdkx.h>
#include <X11/Xlib.h>
#include <X11/keysym.h>
#endif
#include "gtk_linux.h"

extern void deskbellHotkey(int key, int shown);

enum { WAILS, POPUP, CONSOLE };
// What a run returns that has to be run once more, when the main loop has gone on for a moment; and one that asks for the
// keyboard where a popup cannot have it.
enum { AGAIN = 1, NO_KEYS };

// Touched by the main thread only.
static GtkWindow *window;
static int state = WAILS;
static int console_x, console_y, console_w, console_h;
static gboolean console_known, console_maximized;
static gboolean leaving; // it was hidden, and its unmapping was not heard of yet
static gint64 leaves_by; // and when that is no longer waited for
static gulong realize_hook;
static GtkWidget *held_back; // kept from the window manager until it has been hidden once

// On Wayland, where the compositor offers layers (zwlr_layer_shell_v1), a popup is a window of its own in the uppermost
// one, and the page moves between the two: a window that is once in a layer cannot become an ordinary one.
static GtkWindow *sheet;
// The window manager, weston's, neither puts windows where they ask to be nor keeps them above others, and gives each new one
// the keyboard. The sheet is a window then that it has no say in, and which cannot have the keyboard.
static gboolean weak;
static gboolean layers_offered; // whether this library is there or not
static gboolean keys_wanted; // the popup asked for the keyboard, and does not have it yet
static struct {
	void (*init)(GtkWindow *);
	void (*set_namespace)(GtkWindow *, const char *);
	void (*set_layer)(GtkWindow *, int);
	void (*set_anchor)(GtkWindow *, int, gboolean);
	void (*set_margin)(GtkWindow *, int, int);
	void (*set_keyboard_mode)(GtkWindow *, int);
	guint (*protocol_version)(void);
} layer;
enum { LAYER_OVERLAY = 3 };
enum { EDGE_RIGHT = 1, EDGE_TOP = 2 };
enum { KEYS_NONE, KEYS_EXCLUSIVE, KEYS_ON_DEMAND };

// front is the window that a person sees or would see now.
static GtkWindow *front(void) { return sheet != NULL && state == POPUP ? sheet : window; }

static gboolean on_x11(void) {
#ifdef GDK_WINDOWING_X11
	GdkDisplay *d = gdk_display_get_default();
	return d != NULL && GDK_IS_X11_DISPLAY(d);
#else
	return FALSE;
#endif
}

static gboolean on_wayland(void) {
	const char *session = g_getenv("XDG_SESSION_TYPE");
	return g_getenv("WAYLAND_DISPLAY") != NULL || (session != NULL && strcmp(session, "wayland") == 0);
}

static void on_global(void *data, struct wl_registry *r, uint32_t name, const char *interface, uint32_t version) {
	if (strcmp(interface, "zwlr_layer_shell_v1") == 0)
		*(gboolean *)data = TRUE;
}

static void on_global_remove(void *data, struct wl_registry *r, uint32_t name) {}

static gboolean weak_manager(void) {
#ifdef GDK_WINDOWING_X11
	GdkScreen *s = gdk_screen_get_default();
	return on_x11() && on_wayland() && strcmp(gdk_x11_screen_get_window_manager_name(s), "unknown") != 0 &&
		!gdk_x11_screen_supports_net_wm_hint(s, gdk_atom_intern_static_string("_NET_WM_STATE_ABOVE"));
#else
	return FALSE;
#endif
}

// find_layers asks the compositor on a connection of its own: GTK has to know its backend before it connects.
static gboolean find_layers(void) {
	static const struct wl_registry_listener listener = {on_global, on_global_remove};
	gboolean found = FALSE;
	struct wl_display *d = wl_display_connect(NULL);
	if (d == NULL)
		return FALSE;
	struct wl_registry *r = wl_display_get_registry(d);
	wl_registry_add_listener(r, &listener, &found);
	wl_display_roundtrip(d);
	wl_registry_destroy(r);
	wl_display_disconnect(d);
	return found;
}

// load_layers loads gtk-layer-shell, which no distribution installs with GTK.
static gboolean load_layers(void) {
	void *lib = dlopen("libgtk-layer-shell.so.0", RTLD_NOW | RTLD_LOCAL);
	if (lib == NULL)
		return FALSE;
	const struct { const char *name; void *into; } symbols[] = {
		{"gtk_layer_init_for_window", &layer.init}, {"gtk_layer_set_namespace", &layer.set_namespace},
		{"gtk_layer_set_layer", &layer.set_layer}, {"gtk_layer_set_anchor", &layer.set_anchor},
		{"gtk_layer_set_margin", &layer.set_margin}, {"gtk_layer_set_keyboard_mode", &layer.set_keyboard_mode},
		{"gtk_layer_get_protocol_version", &layer.protocol_version},
	};
	for (guint i = 0; i < G_N_ELEMENTS(symbols); i++) {
		void *f = dlsym(lib, symbols[i].name);
		if (f == NULL) {
			dlclose(lib);
			memset(&layer, 0, sizeof layer);
			return FALSE;
		}
		*(void **)symbols[i].into = f;
	}
	return TRUE;
}

// ---- running on the main thread ----

typedef struct call call;
struct call {
	int (*run)(call *);
	int x, y, w, h, a, b;
	db_abilities able;
	int result;
	gboolean done;
	gint refs;
	GMutex lock;
	GCond cond;
};

static void call_unref(call *c) {
	if (g_atomic_int_dec_and_test(&c->refs)) {
		g_mutex_clear(&c->lock);
		g_cond_clear(&c->cond);
		g_free(c);
	}
}

static gboolean call_idle(gpointer data) {
	call *c = data;
	int result = c->run(c);
	if (result == AGAIN) {
		g_timeout_add(5, call_idle, c);
		return G_SOURCE_REMOVE;
	}
	g_mutex_lock(&c->lock);
	c->result = result;
	c->done = TRUE;
	g_cond_signal(&c->cond);
	g_mutex_unlock(&c->lock);
	call_unref(c);
	return G_SOURCE_REMOVE;
}

// The wait has an end because a main loop that has stopped, at quitting, never answers.
static int on_main_at(int priority, call *c, int seconds) {
	c->refs = 2;
	g_mutex_init(&c->lock);
	g_cond_init(&c->cond);
	gint64 until = g_get_monotonic_time() + seconds * G_TIME_SPAN_SECOND;
	g_idle_add_full(priority, call_idle, c, NULL);
	g_mutex_lock(&c->lock);
	while (!c->done && g_cond_wait_until(&c->cond, &c->lock, until))
		;
	int result = c->done ? c->result : -2;
	g_mutex_unlock(&c->lock);
	return result;
}

static int on_main(call *c, int seconds) { return on_main_at(G_PRIORITY_DEFAULT, c, seconds); }

static call *new_call(int (*run)(call *)) {
	call *c = g_new0(call, 1);
	c->run = run;
	return c;
}

static int finish(call *c, int seconds) {
	int result = on_main(c, seconds);
	call_unref(c);
	return result;
}

// ---- the window ----

static GtkWidget *find_webview(GtkWidget *w) {
	if (g_str_has_prefix(G_OBJECT_TYPE_NAME(w), "WebKitWebView"))
		return w;
	if (!GTK_IS_CONTAINER(w))
		return NULL;
	GtkWidget *found = NULL;
	GList *children = gtk_container_get_children(GTK_CONTAINER(w));
	for (GList *l = children; l != NULL && found == NULL; l = l->next)
		found = find_webview(l->data);
	g_list_free(children);
	return found;
}

static GtkWindow *find_window(void) {
	GtkWindow *found = NULL;
	GList *all = gtk_window_list_toplevels();
	for (GList *l = all; l != NULL && found == NULL; l = l->next)
		if (find_webview(l->data) != NULL)
			found = GTK_WINDOW(l->data);
	g_list_free(all);
	return found;
}

// Wails maps a window that starts hidden and then hides it: a flash that takes the keyboard. Until it is
// hidden, the window manager does not get to see it (X11), or nobody does (Wayland).
static gboolean on_realize(GSignalInvocationHint *hint, guint n, const GValue *params, gpointer data) {
	GtkWidget *w = g_value_get_object(&params[0]);
	if (!GTK_IS_WINDOW(w) || gtk_window_get_window_type(GTK_WINDOW(w)) != GTK_WINDOW_TOPLEVEL)
		return TRUE;
	held_back = w;
	gtk_window_set_focus_on_map(GTK_WINDOW(w), FALSE);
	gtk_widget_set_opacity(w, 0);
	if (on_x11()) {
		gdk_window_set_override_redirect(gtk_widget_get_window(w), TRUE);
		gdk_window_move(gtk_widget_get_window(w), -30000, -30000);
	}
	realize_hook = 0;
	return FALSE;
}

static void release(void) {
	if (held_back == NULL)
		return;
	gtk_widget_hide(held_back);
	gtk_widget_set_opacity(held_back, 1);
	if (on_x11())
		gdk_window_set_override_redirect(gtk_widget_get_window(held_back), FALSE);
	held_back = NULL;
}

int db_prepare(int start_hidden) {
	// Wayland gives an ordinary window no say in where it stands, whether it is above others, or whether it takes the
	// keyboard. A layer gives all three, and so does XWayland under a compositor that places windows of X11.
	if (on_wayland() && g_getenv("GDK_BACKEND") == NULL) {
		layers_offered = find_layers();
		if (layers_offered && load_layers())
			g_setenv("GDK_BACKEND", "wayland", FALSE);
		else if (g_getenv("DISPLAY") != NULL)
			g_setenv("GDK_BACKEND", "x11,wayland", FALSE);
	}
	if (!gtk_init_check(NULL, NULL))
		return -1;
	if (start_hidden) {
		g_type_class_unref(g_type_class_ref(GTK_TYPE_WINDOW));
		realize_hook = g_signal_add_emission_hook(g_signal_lookup("realize", GTK_TYPE_WIDGET), 0, on_realize, NULL, NULL);
	}
	return 0;
}

static gboolean on_focus_out(GtkWidget *w, GdkEvent *e, gpointer data) {
	if (state == POPUP && sheet != NULL)
		layer.set_keyboard_mode(sheet, KEYS_NONE);
	else if (state == POPUP)
		gtk_window_set_accept_focus(window, FALSE);
	return FALSE;
}

static void on_destroy(GtkWidget *w, gpointer data) {
	window = NULL;
}

static guint32 now(void) {
#ifdef GDK_WINDOWING_X11
	GdkWindow *w = gtk_widget_get_window(GTK_WIDGET(window));
	if (on_x11() && w != NULL)
		return gdk_x11_get_server_time(w);
#endif
	return GDK_CURRENT_TIME;
}

static void focus_at(guint32 time) {
	if (front() == sheet) {
		keys_wanted = TRUE;
		layer.set_keyboard_mode(sheet, KEYS_EXCLUSIVE); // nothing less gives it without another click
	} else {
		gtk_window_set_accept_focus(window, TRUE);
		gtk_window_present_with_time(window, time);
	}
	GtkWidget *view = find_webview(GTK_WIDGET(front()));
	if (view != NULL)
		gtk_widget_grab_focus(view);
}

// ---- keys that work in every program ----

#ifdef GDK_WINDOWING_X11
// In the order of Go's Hotkey.
static struct hotkey {
	KeySym sym;
	KeyCode fallback; // where the key is on a keyboard whose layout has no Latin letters
	unsigned int mods;
	KeyCode code;
	gboolean grabbed;
} hotkeys[] = {
	{XK_b, 56, ControlMask | Mod1Mask},
	{XK_r, 27, ControlMask | Mod1Mask},
	{XK_r, 27, ControlMask | Mod1Mask | ShiftMask},
};

static const unsigned int hotkey_locks[] = {0, LockMask, Mod2Mask, LockMask | Mod2Mask}; // Caps, Num

static void ungrab_key(struct hotkey *k) {
	Display *x = gdk_x11_get_default_xdisplay();
	gdk_x11_display_error_trap_push(gdk_display_get_default());
	for (guint i = 0; i < G_N_ELEMENTS(hotkey_locks); i++)
		XUngrabKey(x, k->code, k->mods | hotkey_locks[i], DefaultRootWindow(x));
	gdk_x11_display_error_trap_pop_ignored(gdk_display_get_default());
	k->grabbed = FALSE;
}

static void ungrab(void) {
	for (guint i = 0; i < G_N_ELEMENTS(hotkeys); i++)
		if (hotkeys[i].grabbed)
			ungrab_key(&hotkeys[i]);
}

static void grab(void) {
	Display *x = gdk_x11_get_default_xdisplay();
	for (guint i = 0; i < G_N_ELEMENTS(hotkeys); i++) {
		struct hotkey *k = &hotkeys[i];
		k->code = XKeysymToKeycode(x, k->sym);
		if (k->code == 0)
			k->code = k->fallback;
		gdk_x11_display_error_trap_push(gdk_display_get_default());
		for (guint j = 0; j < G_N_ELEMENTS(hotkey_locks); j++)
			XGrabKey(x, k->code, k->mods | hotkey_locks[j], DefaultRootWindow(x), False, GrabModeAsync, GrabModeAsync);
		k->grabbed = TRUE;
		if (gdk_x11_display_error_trap_pop(gdk_display_get_default()) != 0)
			ungrab_key(k); // another program has the key
	}
}

static GdkFilterReturn on_root_event(GdkXEvent *xevent, GdkEvent *event, gpointer data) {
	XEvent *e = xevent;
	if (e->type != KeyPress || window == NULL)
		return GDK_FILTER_CONTINUE;
	unsigned int mods = e->xkey.state & (ControlMask | Mod1Mask | ShiftMask | Mod4Mask);
	for (guint i = 0; i < G_N_ELEMENTS(hotkeys); i++) {
		if (!hotkeys[i].grabbed || e->xkey.keycode != hotkeys[i].code || mods != hotkeys[i].mods)
			continue;
		gboolean shown = gtk_widget_get_visible(GTK_WIDGET(front())) && !(weak && front() == sheet);
		if (i == 0 && shown)
			focus_at(e->xkey.time);
		deskbellHotkey(i, shown);
		return GDK_FILTER_REMOVE;
	}
	return GDK_FILTER_CONTINUE;
}

static void on_keys_changed(GdkKeymap *map, gpointer data) {
	ungrab();
	grab();
}
#endif

static gboolean on_unmap(GtkWidget *w, GdkEvent *e, gpointer data) {
	leaving = FALSE;
	return FALSE;
}

// The keyboard that was asked for is here: from now on a click elsewhere takes it away. sway gives it back once more after
// such a click, unasked, until it hears of on_focus_out.
static gboolean on_focus_in(GtkWidget *w, GdkEvent *e, gpointer data) {
	if (keys_wanted && layer.protocol_version() >= 4)
		layer.set_keyboard_mode(sheet, KEYS_ON_DEMAND);
	keys_wanted = FALSE;
	return FALSE;
}

static void make_sheet(void) {
	sheet = GTK_WINDOW(gtk_window_new(weak ? GTK_WINDOW_POPUP : GTK_WINDOW_TOPLEVEL));
	gtk_window_set_title(sheet, gtk_window_get_title(window));
	GdkVisual *visual = gdk_screen_get_rgba_visual(gtk_window_get_screen(sheet));
	if (visual != NULL)
		gtk_widget_set_visual(GTK_WIDGET(sheet), visual);
	gtk_widget_set_app_paintable(GTK_WIDGET(sheet), TRUE);
	g_signal_connect(sheet, "unmap-event", G_CALLBACK(on_unmap), NULL);
	if (weak)
		return;
	layer.init(sheet);
	layer.set_namespace(sheet, "deskbell");
	layer.set_layer(sheet, LAYER_OVERLAY);
	layer.set_anchor(sheet, EDGE_TOP, TRUE);
	layer.set_anchor(sheet, EDGE_RIGHT, TRUE);
	layer.set_keyboard_mode(sheet, KEYS_NONE);
	g_signal_connect(sheet, "focus-in-event", G_CALLBACK(on_focus_in), NULL);
	g_signal_connect(sheet, "focus-out-event", G_CALLBACK(on_focus_out), NULL);
}

// carry moves the page to another window; both are hidden.
static void carry(GtkWindow *to) {
	GtkWidget *from = GTK_WIDGET(to == sheet ? window : sheet), *page = gtk_bin_get_child(GTK_BIN(from));
	if (page == NULL)
		return; // it is there
	g_object_ref(page);
	gtk_container_remove(GTK_CONTAINER(from), page);
	gtk_container_add(GTK_CONTAINER(to), page);
	g_object_unref(page);
}

// The page's process can crash or be killed; the page then stays white. It is loaded again, but not in a loop.
static void on_page_gone(GObject *view, int reason, gpointer data) {
	static gint64 last;
	gint64 at = g_get_monotonic_time();
	void (*reload)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "webkit_web_view_reload"); // Wails links it, in one of its versions
	if (reload == NULL || (last != 0 && at - last < 5 * G_TIME_SPAN_SECOND))
		return;
	last = at;
	g_warning("the page's process has ended; the page is loaded again");
	reload(view);
}

static guint moved; // reports it when the console has stood still for a moment

static gboolean on_still(gpointer data) {
	moved = 0;
	if (window != NULL && state == CONSOLE && gtk_widget_get_visible(GTK_WIDGET(window)))
		deskbellHotkey(3, 1); // Go's Moved
	return G_SOURCE_REMOVE;
}

static gboolean on_configure(GtkWidget *w, GdkEvent *e, gpointer data) {
	if (state == CONSOLE) {
		if (moved != 0)
			g_source_remove(moved);
		moved = g_timeout_add(400, on_still, NULL);
	}
	return FALSE;
}

static gboolean on_settled(gpointer data) {
	deskbellHotkey(4, 1); // Go's Rearranged
	return G_SOURCE_REMOVE;
}

// The window manager hears of it when GTK does, and says only then what its panels leave free.
static void on_monitors_changed(GdkScreen *s, gpointer data) {
	g_timeout_add(400, on_settled, NULL);
}

static int adopt(call *c) {
	release();
	window = find_window();
	if (window == NULL)
		return -1;
	weak = weak_manager();
	if (weak || (layer.init != NULL && !on_x11()))
		make_sheet();
	g_signal_connect(find_webview(GTK_WIDGET(window)), "web-process-terminated", G_CALLBACK(on_page_gone), NULL);
	g_signal_connect(window, "focus-out-event", G_CALLBACK(on_focus_out), NULL);
	g_signal_connect(window, "destroy", G_CALLBACK(on_destroy), NULL);
	g_signal_connect(window, "configure-event", G_CALLBACK(on_configure), NULL);
	g_signal_connect(gtk_window_get_screen(window), "monitors-changed", G_CALLBACK(on_monitors_changed), NULL);
	g_signal_connect(window, "unmap-event", G_CALLBACK(on_unmap), NULL);
#ifdef GDK_WINDOWING_X11
	if (on_x11()) {
		gdk_window_add_filter(gdk_get_default_root_window(), on_root_event, NULL);
		g_signal_connect(gdk_keymap_get_for_display(gdk_display_get_default()), "keys-changed", G_CALLBACK(on_keys_changed), NULL);
		grab();
	}
#endif
	return 0;
}

static int able(call *c) {
	// Compositors that offer layers leave windows of X11 where tiling puts them.
	gboolean x11 = on_x11(), stands = sheet != NULL || (x11 && !layers_offered);
	c->able.place = c->able.keep_above = stands;
	c->able.no_focus = sheet != NULL || x11;
#ifdef GDK_WINDOWING_X11
	// XWayland hears keys only while one of its own windows has the keyboard.
	c->able.hotkey = x11 && !on_wayland() && hotkeys[0].grabbed;
	c->able.record_keys = x11 && !on_wayland() && hotkeys[1].grabbed && hotkeys[2].grabbed;
#endif
	if (window != NULL) {
		GdkScreen *screen = gtk_window_get_screen(window);
		GdkVisual *rgba = gdk_screen_get_rgba_visual(screen);
		c->able.transparent = rgba != NULL && gdk_screen_is_composited(screen) && gtk_widget_get_visual(GTK_WIDGET(window)) == rgba;
	}
	return 0;
}

// A layer's place is counted from the edges of the monitor that the compositor chooses, which is the one with the
// keyboard: before that only the size matters that fits on each.
static int sheet_screen(call *c) {
	GdkDisplay *d = gdk_display_get_default();
	GdkWindow *gdk = gtk_widget_get_window(GTK_WIDGET(sheet));
	int n = gdk_display_get_n_monitors(d);
	if (gdk != NULL && gtk_widget_get_visible(GTK_WIDGET(sheet))) {
		GdkMonitor *m = gdk_display_get_monitor_at_window(d, gdk);
		for (int i = 0; m != NULL && i < n; i++)
			if (gdk_display_get_monitor(d, i) == m) {
				GdkRectangle r;
				gdk_monitor_get_geometry(m, &r);
				c->w = r.width, c->h = r.height;
				return 0;
			}
	}
	for (int i = 0; i < n; i++) {
		GdkRectangle r;
		gdk_monitor_get_geometry(gdk_display_get_monitor(d, i), &r);
		c->w = i == 0 ? r.width : MIN(c->w, r.width);
		c->h = i == 0 ? r.height : MIN(c->h, r.height);
	}
	return n > 0 ? 0 : -1;
}

static int screen(call *c) {
	if (sheet != NULL && !weak)
		return sheet_screen(c);
	GdkDisplay *d = gdk_display_get_default();
	GdkMonitor *m = NULL;
	GdkSeat *seat = gdk_display_get_default_seat(d);
	GdkDevice *pointer = seat != NULL ? gdk_seat_get_pointer(seat) : NULL;
	if (pointer != NULL) {
		int px, py;
		gdk_device_get_position(pointer, NULL, &px, &py);
		m = gdk_display_get_monitor_at_point(d, px, py);
	}
	if (m == NULL)
		m = gdk_display_get_primary_monitor(d);
	if (m == NULL)
		m = gdk_display_get_monitor(d, 0);
	if (m == NULL)
		return -1;
	GdkRectangle r;
	gdk_monitor_get_workarea(m, &r);
	const int panel = weak ? 32 : 0; // weston's, of which programs hear nothing and which is above them
	c->x = r.x, c->y = r.y + panel, c->w = r.width, c->h = r.height - panel;
	return 0;
}

static void hints(int min_w, int min_h, int max_w, int max_h) {
	GdkGeometry g;
	memset(&g, 0, sizeof g);
	g.min_width = min_w, g.min_height = min_h;
	g.max_width = max_w, g.max_height = max_h;
	gtk_window_set_geometry_hints(window, NULL, &g, GDK_HINT_MIN_SIZE | (max_w > 0 ? GDK_HINT_MAX_SIZE : 0));
}

static void remember_console(void) {
	if (state != CONSOLE || !gtk_widget_get_visible(GTK_WIDGET(window)))
		return;
	console_maximized = gtk_window_is_maximized(window);
	if (!console_maximized) {
		gtk_window_get_size(window, &console_w, &console_h);
		gtk_window_get_position(window, &console_x, &console_y);
		console_known = TRUE;
	}
}

static void pass_clicks_around(int pad, int w, int h) {
	GdkWindow *gdk = gtk_widget_get_window(GTK_WIDGET(front()));
	if (gdk == NULL)
		return;
	if (pad == 0) {
		gdk_window_input_shape_combine_region(gdk, NULL, 0, 0);
		return;
	}
	cairo_rectangle_int_t inner = {pad, pad, MAX(1, w - 2 * pad), MAX(1, h - 2 * pad)};
	cairo_region_t *region = cairo_region_create_rectangle(&inner);
	gdk_window_input_shape_combine_region(gdk, region, 0, 0);
	cairo_region_destroy(region);
}

static void vanish(void) {
	GtkWidget *w = GTK_WIDGET(front());
	if (!gtk_widget_get_visible(w))
		return;
	leaving = TRUE;
	leaves_by = g_get_monotonic_time() + 300 * G_TIME_SPAN_MILLISECOND;
	gtk_widget_hide(w);
}

// let_go says whether the window manager has let the hidden window go (ICCCM 4.1.4), where there is one.
static gboolean let_go(void) {
	long is = 0; // WithdrawnState
#ifdef GDK_WINDOWING_X11
	GdkWindow *gdk = gtk_widget_get_window(GTK_WIDGET(window));
	if (!on_x11() || gdk == NULL)
		return TRUE;
	GdkDisplay *d = gdk_window_get_display(gdk);
	Atom wm_state = gdk_x11_get_xatom_by_name_for_display(d, "WM_STATE"), type = None;
	int format = 0;
	unsigned long n = 0, after = 0;
	unsigned char *data = NULL;
	gdk_x11_display_error_trap_push(d);
	if (XGetWindowProperty(GDK_DISPLAY_XDISPLAY(d), GDK_WINDOW_XID(gdk), wm_state, 0, 1, False, wm_state, &type, &format, &n, &after, &data) == Success && type == wm_state && n > 0)
		is = *(long *)data;
	if (data != NULL)
		XFree(data);
	gdk_x11_display_error_trap_pop_ignored(d);
#endif
	return is == 0;
}

// The window has to be gone before it is shown as something else: GDK takes an unmapping that it hears of after the new
// showing for one of that, and the page then stays black, at the size it had.
static gboolean gone(void) {
	vanish();
	return (!leaving && let_go()) || g_get_monotonic_time() >= leaves_by;
}

static int sheet_popup(call *c) {
	gboolean fresh = state != POPUP || !gtk_widget_get_visible(GTK_WIDGET(sheet));
	if (fresh) {
		remember_console();
		if (!gone())
			return AGAIN;
		carry(sheet);
		state = POPUP;
	}
	if (weak) {
		gtk_window_move(sheet, c->x, c->y);
	} else {
		if (fresh)
			layer.set_keyboard_mode(sheet, KEYS_NONE);
		call at = {0};
		sheet_screen(&at);
		layer.set_margin(sheet, EDGE_TOP, c->y);
		layer.set_margin(sheet, EDGE_RIGHT, at.w - c->x - c->w);
	}
	gtk_widget_set_size_request(GTK_WIDGET(sheet), c->w, c->h);
	gtk_window_resize(sheet, c->w, c->h);
	if (fresh)
		gtk_widget_show(GTK_WIDGET(sheet));
	pass_clicks_around(c->a, c->w, c->h);
	return 0;
}

static int popup(call *c) {
	if (window == NULL)
		return -1;
	release();
	if (sheet != NULL)
		return sheet_popup(c);
	gboolean fresh = state != POPUP || !gtk_widget_get_visible(GTK_WIDGET(window));
	if (fresh) {
		remember_console();
		// Frame, task bar and focus are asked for when a window is mapped; window managers differ in what
		// they make of a later change.
		if (!gone())
			return AGAIN;
		gtk_window_unfullscreen(window);
		gtk_window_unmaximize(window);
		gtk_window_set_decorated(window, FALSE);
		gtk_window_set_skip_taskbar_hint(window, TRUE);
		gtk_window_set_skip_pager_hint(window, TRUE);
		gtk_window_set_accept_focus(window, FALSE);
		gtk_window_set_focus_on_map(window, FALSE);
		gtk_window_set_keep_above(window, TRUE);
		gtk_window_stick(window);
		state = POPUP;
	}
	hints(c->w, c->h, c->w, c->h);
	gtk_window_resize(window, c->w, c->h);
	gtk_window_move(window, c->x, c->y);
	if (fresh) {
		gtk_widget_show(GTK_WIDGET(window));
		gtk_window_move(window, c->x, c->y);
	}
	pass_clicks_around(c->a, c->w, c->h);
	return 0;
}

static int console(call *c) {
	if (window == NULL)
		return -1;
	release();
	if ((state != CONSOLE || !gtk_widget_get_visible(GTK_WIDGET(window))) && !gone())
		return AGAIN;
	if (state != CONSOLE) {
		if (sheet != NULL)
			carry(window);
		gtk_window_set_keep_above(window, FALSE);
		gtk_window_unstick(window);
		gtk_window_set_decorated(window, TRUE);
		gtk_window_set_skip_taskbar_hint(window, FALSE);
		gtk_window_set_skip_pager_hint(window, FALSE);
		gtk_window_set_accept_focus(window, TRUE);
		gtk_window_set_focus_on_map(window, TRUE);
		if (sheet == NULL)
			pass_clicks_around(0, 0, 0);
		if (!console_known) {
			call at = {0};
			console_w = c->w, console_h = c->h;
			if (screen(&at) == 0) {
				console_w = MIN(c->w, at.w);
				console_h = MIN(c->h, at.h);
				console_x = at.x + (at.w - console_w) / 2;
				console_y = at.y + (at.h - console_h) / 2;
			}
			console_known = TRUE;
		}
		hints(MIN(c->a, console_w), MIN(c->b, console_h), 0, 0);
		gtk_window_resize(window, console_w, console_h);
		gtk_window_move(window, console_x, console_y);
		if (console_maximized)
			gtk_window_maximize(window);
		state = CONSOLE;
		if (weak) { // it shows a window where it stood before it had a say in it
			gdk_window_set_override_redirect(gtk_widget_get_window(GTK_WIDGET(window)), TRUE);
			gdk_window_move(gtk_widget_get_window(GTK_WIDGET(window)), console_x, console_y);
			gdk_window_set_override_redirect(gtk_widget_get_window(GTK_WIDGET(window)), FALSE);
		}
		gtk_widget_show(GTK_WIDGET(window));
		if (!console_maximized)
			gtk_window_move(window, console_x, console_y); // the one before is lost on the first showing
	}
	gtk_window_deiconify(window);
	gtk_widget_show(GTK_WIDGET(window));
	focus_at(now());
	return 0;
}

static int hide(call *c) {
	if (window == NULL)
		return -1;
	remember_console();
	vanish();
	return 0;
}

static int set_place(call *c) {
	console_x = c->x, console_y = c->y, console_w = c->w, console_h = c->h;
	console_maximized = c->a;
	console_known = TRUE;
	if (window == NULL || state != CONSOLE || !gtk_widget_get_visible(GTK_WIDGET(window)))
		return 0;
	if (!console_maximized)
		gtk_window_unmaximize(window);
	gtk_window_resize(window, console_w, console_h);
	gtk_window_move(window, console_x, console_y);
	if (console_maximized)
		gtk_window_maximize(window);
	return 0;
}

static int get_place(call *c) {
	if (window != NULL)
		remember_console();
	c->x = console_x, c->y = console_y, c->w = console_w, c->h = console_h, c->a = console_maximized;
	return console_known ? 0 : -1;
}

static int monitor(call *c) {
	GdkDisplay *d = gdk_display_get_default();
	if (c->a >= gdk_display_get_n_monitors(d))
		return -1;
	GdkRectangle r;
	gdk_monitor_get_workarea(gdk_display_get_monitor(d, c->a), &r);
	c->x = r.x, c->y = r.y, c->w = r.width, c->h = r.height;
	return 0;
}

static int focus(call *c) {
	if (window == NULL)
		return -1;
	if (weak && front() == sheet)
		return NO_KEYS;
	if (gtk_widget_get_visible(GTK_WIDGET(front())))
		focus_at(now());
	return 0;
}

static int close_all(call *c) {
#ifdef GDK_WINDOWING_X11
	if (on_x11()) {
		ungrab();
		gdk_window_remove_filter(gdk_get_default_root_window(), on_root_event, NULL);
	}
#endif
	return 0;
}

static int nothing(call *c) { return 0; }

// The first call also waits for Wails to load its engine and start the loop. Then it waits until Wails has hidden the window, which it
// does when the loop is idle: on a busy machine that would hide what is shown meanwhile.
int db_adopt(void) {
	int result = finish(new_call(adopt), 60);
	if (result != 0)
		return result;
	call *c = new_call(nothing);
	result = on_main_at(G_PRIORITY_LOW, c, 60);
	call_unref(c);
	return result;
}

int db_able(db_abilities *out) {
	call *c = new_call(able);
	int result = on_main(c, 5);
	*out = c->able;
	call_unref(c);
	return result;
}

int db_screen(int *x, int *y, int *w, int *h) {
	call *c = new_call(screen);
	int result = on_main(c, 5);
	*x = c->x, *y = c->y, *w = c->w, *h = c->h;
	call_unref(c);
	return result;
}

int db_popup(int x, int y, int w, int h, int pad) {
	call *c = new_call(popup);
	c->x = x, c->y = y, c->w = w, c->h = h, c->a = pad;
	return finish(c, 5);
}

int db_console(int w, int h, int min_w, int min_h) {
	call *c = new_call(console);
	c->w = w, c->h = h, c->a = min_w, c->b = min_h;
	return finish(c, 5);
}

int db_hide(void) { return finish(new_call(hide), 5); }
int db_focus(void) { return finish(new_call(focus), 5); }
void db_close(void) { finish(new_call(close_all), 2); }

int db_set_place(int x, int y, int w, int h, int maximized) {
	call *c = new_call(set_place);
	c->x = x, c->y = y, c->w = w, c->h = h, c->a = maximized;
	return finish(c, 5);
}

int db_get_place(int *x, int *y, int *w, int *h, int *maximized) {
	call *c = new_call(get_place);
	int result = on_main(c, 5);
	*x = c->x, *y = c->y, *w = c->w, *h = c->h, *maximized = c->a;
	call_unref(c);
	return result;
}

int db_monitor(int n, int *x, int *y, int *w, int *h) {
	call *c = new_call(monitor);
	c->a = n;
	int result = on_main(c, 5);
	*x = c->x, *y = c->y, *w = c->w, *h = c->h;
	call_unref(c);
	return result;
}
