//go:build linux || windows

package window

import (
	"context"
	"image"
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

	mu        sync.Mutex
	pending   int
	recording Recording
	ready     bool
	count     *systray.MenuItem
	recorder  [4]*systray.MenuItem // what it does, pause or continue, stop, discard
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

// Set draws the number of operations that wait for an answer.
func (i *TrayIcon) Set(pending int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	changed := pending != i.pending
	i.pending = pending
	if i.ready && changed {
		i.draw()
	}
}

// SetRecording shows whether the work on the desktop is being recorded.
func (i *TrayIcon) SetRecording(r Recording) {
	i.mu.Lock()
	defer i.mu.Unlock()
	changed := r != i.recording
	i.recording = r
	if i.ready && changed {
		i.draw()
	}
}

// redraw draws it as it is.
func (i *TrayIcon) redraw() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ready {
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
	for n, title := range []string{i.tray.Recording, i.tray.Pause, i.tray.Stop, i.tray.Discard} {
		i.recorder[n] = systray.AddMenuItem(title, "")
	}
	i.recorder[0].Disable()
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
			case <-i.recorder[1].ClickedCh:
				go i.tray.OnPause()
			case <-i.recorder[2].ClickedCh:
				go i.tray.OnStop()
			case <-i.recorder[3].ClickedCh:
				go i.tray.OnDiscard()
			case <-quit.ClickedCh:
				go i.tray.OnQuit()
			case <-ctx.Done():
				return
			}
		}
	}()
}

// draw shows the count and the recorder; the caller holds mu.
func (i *TrayIcon) draw() {
	if runtime.GOOS == "windows" {
		var sizes []image.Image
		for _, px := range []int{16, 24, 32, 48} {
			sizes = append(sizes, TrayBell(px, i.pending, i.recording))
		}
		systray.SetIcon(ICO(sizes...))
	} else {
		systray.SetIcon(PNG(TrayBell(48, i.pending, i.recording)))
	}
	text := i.tray.Count(i.pending)
	i.count.SetTitle(text)
	tip := "Deskbell: " + text
	says, pause := i.tray.Recording, i.tray.Pause
	if i.recording == RecordingPaused {
		says, pause = i.tray.Paused, i.tray.GoOn
	}
	i.recorder[0].SetTitle(says)
	i.recorder[1].SetTitle(pause)
	for _, item := range i.recorder {
		if i.recording == NotRecording {
			item.Hide()
		} else {
			item.Show()
		}
	}
	if i.recording != NotRecording {
		tip = "Deskbell: " + says + ". " + text
	}
	systray.SetTooltip(tip)
}
