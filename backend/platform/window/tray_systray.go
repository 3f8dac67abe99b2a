//go:build linux || windows

package window

import (
	"context"
	"fmt"
	"image"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fyne.io/systray"
)

// A TrayIcon is the bell in the panel (StatusNotifierItem on Linux, the notification area on Windows).
// The library behind it allows one in the life of a process. Safe for concurrent use.
type TrayIcon struct {
	tray  Tray
	shown atomic.Bool
	stop  context.CancelFunc
	done  chan struct{}

	mu    sync.Mutex
	state TrayState
	menu  []*systray.MenuItem // nil until it is there
	drawn []entry
	icon  string // what the icon was drawn from
}

// StartTray shows the icon as soon as there is a panel to show it, which may be never (GNOME has none
// without an extension): then the program is reached by starting it again. Callbacks come on goroutines
// of their own.
func StartTray(t Tray, log *slog.Logger) *TrayIcon {
	ctx, cancel := context.WithCancel(context.Background())
	i := &TrayIcon{tray: t, stop: cancel, done: make(chan struct{})}
	go func() {
		defer close(i.done)
		if err := waitForPanel(ctx, i.redraw); err != nil {
			if ctx.Err() == nil {
				log.Info("no tray icon", "reason", err)
			}
			return
		}
		i.run(ctx)
	}()
	return i
}

// Shown is true once a panel was there to take the icon.
func (i *TrayIcon) Shown() bool { return i.shown.Load() }

// Update changes what is shown.
func (i *TrayIcon) Update(change func(*TrayState)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change(&i.state)
	if i.menu != nil {
		i.draw()
	}
}

// redraw draws all of it as it is.
func (i *TrayIcon) redraw() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.icon = ""
	for n := range i.drawn {
		i.drawn[n].title += " " // not what is shown
	}
	if i.menu != nil {
		i.draw()
	}
}

// Stop takes the icon away and waits until it is gone.
func (i *TrayIcon) Stop() {
	i.stop()
	<-i.done
}

func (i *TrayIcon) run(ctx context.Context) {
	runtime.LockOSThread() // Windows: the icon's messages come to the thread that made it
	defer runtime.UnlockOSThread()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		systray.Quit()
	}()
	go func() {
		for {
			select {
			case <-systray.TrayOpenedCh:
				if i.tray.Opened != nil {
					i.tray.Opened()
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	i.mu.Lock()
	systray.SetTitle("Deskbell")
	systray.SetOnTapped(func() { go i.tray.Chosen(Choice{Do: OpenCommand}) })
	i.mu.Unlock()
	if runtime.GOOS == "linux" {
		i.build(ctx) // before the icon is announced, or panels read it half made
		systray.Run(nil, nil)
	} else {
		systray.Run(func() { i.build(ctx) }, nil) // Windows has nothing to draw on before
	}
	i.shown.Store(false)
	<-stopped
}

func (i *TrayIcon) build(ctx context.Context) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var outer *systray.MenuItem
	for n, e := range i.tray.menu(i.state, time.Now()) {
		if e.line {
			systray.AddSeparator()
		}
		var item *systray.MenuItem
		switch {
		case e.inner && e.checkable:
			item = outer.AddSubMenuItemCheckbox(label(e.title), "", e.checked)
		case e.inner:
			item = outer.AddSubMenuItem(label(e.title), "")
		default:
			item = systray.AddMenuItem(label(e.title), "")
			outer = item
		}
		if e.dead {
			item.Disable()
		}
		i.menu, i.drawn = append(i.menu, item), append(i.drawn, entry{title: "not drawn", checked: e.checked})
		go i.listen(ctx, n, item)
	}
	i.draw()
	i.shown.Store(true)
}

// listen reports when the n-th entry is chosen.
func (i *TrayIcon) listen(ctx context.Context, n int, item *systray.MenuItem) {
	for {
		select {
		case <-item.ClickedCh:
			i.mu.Lock()
			chosen := i.drawn[n]
			i.mu.Unlock()
			if !chosen.dead {
				go i.tray.Chosen(chosen.Choice)
			}
		case <-ctx.Done():
			return
		}
	}
}

// draw shows the state; the caller holds mu.
func (i *TrayIcon) draw() {
	now := time.Now()
	s := i.state
	if icon := fmt.Sprint(s.Pending, s.Recording, s.Quiet.On); icon != i.icon {
		i.icon = icon
		if runtime.GOOS == "windows" {
			var sizes []image.Image
			for _, px := range []int{16, 24, 32, 48} {
				sizes = append(sizes, TrayBell(px, s.Pending, s.Recording, s.Quiet.On))
			}
			systray.SetIcon(ICO(sizes...))
		} else {
			systray.SetIcon(PNG(TrayBell(48, s.Pending, s.Recording, s.Quiet.On)))
		}
	}
	for n, e := range i.tray.menu(s, now) {
		was, item := i.drawn[n], i.menu[n]
		i.drawn[n] = e
		if e.title != was.title {
			if e.title == "" {
				item.Hide()
			} else {
				item.SetTitle(label(e.title))
				item.Show()
			}
		}
		if e.checked && !was.checked {
			item.Check()
		} else if !e.checked && was.checked {
			item.Uncheck()
		}
	}
	systray.SetTooltip(i.tray.tip(s, now))
}

// label is a title in which nothing marks a letter for the keyboard, as single underscores (Linux) and ampersands (Windows) do.
func label(title string) string {
	if runtime.GOOS == "windows" {
		return strings.ReplaceAll(title, "&", "&&")
	}
	return strings.ReplaceAll(title, "_", "__")
}
