//go:build linux || windows

package desktop

import (
	"context"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"

	"fyne.io/systray"
)

// A TrayIcon is the bell in the panel (StatusNotifierItem on Linux, the notification area on Windows).
// The library behind it allows one in the life of a process. Safe for concurrent use.
type TrayIcon struct {
	tray  Tray
	shown atomic.Bool
	stop  context.CancelFunc
	done  chan struct{}

	mu      sync.Mutex
	pending int
	ready   bool
	count   *systray.MenuItem
}

// StartTray shows the icon as soon as there is a panel to show it, which may be never (GNOME has none
// without an extension): then the program is reached by starting it again. Callbacks come on goroutines
// of their own.
func StartTray(t Tray, log *slog.Logger) *TrayIcon {
	ctx, cancel := context.WithCancel(context.Background())
	i := &TrayIcon{tray: t, stop: cancel, done: make(chan struct{})}
	go func() {
		defer close(i.done)
		if err := waitForPanel(ctx); err != nil {
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

// Set draws the number of operations that ring.
func (i *TrayIcon) Set(pending int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	changed := pending != i.pending
	i.pending = pending
	if i.ready && changed {
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
	i.mu.Lock()
	systray.SetTitle("Deskbell")
	if i.tray.OnOpen != nil {
		systray.SetOnTapped(func() { go i.tray.OnOpen() })
	}
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
	open := systray.AddMenuItem(i.tray.Open, "")
	i.count = systray.AddMenuItem(i.tray.Count(i.pending), "")
	i.count.Disable()
	systray.AddSeparator()
	quit := systray.AddMenuItem(i.tray.Quit, "")
	i.draw()
	i.ready = true
	i.shown.Store(true)
	go func() {
		for {
			select {
			case <-open.ClickedCh:
				go i.tray.OnOpen()
			case <-quit.ClickedCh:
				go i.tray.OnQuit()
			case <-ctx.Done():
				return
			}
		}
	}()
}

// draw shows the count; the caller holds mu.
func (i *TrayIcon) draw() {
	if runtime.GOOS == "windows" {
		systray.SetIcon(ICO(TrayBell(16, i.pending), TrayBell(24, i.pending), TrayBell(32, i.pending), TrayBell(48, i.pending)))
	} else {
		systray.SetIcon(PNG(TrayBell(48, i.pending)))
	}
	text := i.tray.Count(i.pending)
	i.count.SetTitle(text)
	systray.SetTooltip("Deskbell: " + text)
}
