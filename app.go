package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/options/windows"
	"github.com/wailsapp/wails/v2/pkg/runtime"

	"deskbell/backend/human"
	"deskbell/backend/platform/window"
	"deskbell/backend/store/disk"
	"deskbell/backend/transport/cli"
)

// Sizes in CSS pixels. The popup's card is as wide as the design's --popup.
const (
	popupWidth   = 400
	recorderHigh = 44
	recorderWide = 320 // the recorder's sign, while the operator works in other programs
	popupMargin  = 16
	noticeRoom   = 180 // above the cards, while a notification of ours may stand in the same corner
	popupPad     = 24  // room for the front card's shadow, where the window can be transparent
	consoleWidth = 1280
	consoleHigh  = 832
	minWidth     = 720
	minHeight    = 480
)

// An Answerer answers an approval as the operator. It is called for a click on a notification, which may
// come while the page is asleep or not loaded. Decision is "approve" or "deny". A human.Error's message
// is shown to the operator.
type Answerer interface {
	Answer(ctx context.Context, operationID, decision string) error
}

// Session is what the page needs to reach the API. The token is the operator's and stays in memory.
type Session struct {
	URL      string `json:"url"`    // of the API, without a slash at the end
	Token    string `json:"token"`  // for the Authorization header and the WebSocket
	Locale   string `json:"locale"` // "en", "zh-CN", or "" to follow the system
	Theme    string `json:"theme"`  // "light", "dark", or "" to follow the system
	Operator string `json:"operator"`
	// Popup is how a popup will stand, as far as it is known before: Pad and Transparent. What WebKitGTK has
	// painted in a see-through window stays, so the page must be drawn for it before Mode shows the window.
	Popup Placement `json:"popup"`
	// Mode is what the window is now, since that turn: it may have been shown before the page listened.
	Mode string `json:"mode"`
	Turn int    `json:"turn"`
	// Quiet says that no cards and no notifications are wanted now, QuietCritical that those of critical risk are.
	Quiet         bool   `json:"quiet"`
	QuietCritical bool   `json:"quiet_critical"`
	Crash         string `json:"crash,omitempty"` // the report of how the last run ended unexpectedly
	Open          string `json:"open"`            // the operation or the page that the operator or a link asked for before the page listened, or ""
}

// Home is the rest of the program as the window sees it, once it is open.
type Home struct {
	Session  Session
	Answerer Answerer
	Pending  func() int                                           // how many operations wait for the operator
	Watch    func(ctx context.Context, changed func(pending int)) // reports each change of it until ctx is done
	Waiting  func() []human.Operation                             // the most urgent of them
	Status   func(ctx context.Context) window.Status              // what the tray says of the rest of the program
	Close    func()                                               // after the window has gone
	Quieter  Quieter
	// OnSettings has changed called after each change of the settings. Woke has a token whenever the machine has woken from sleep.
	OnSettings func(changed func())
	Woke       <-chan struct{}
	Recorder   Recorder
}

// A Quieter keeps what the operator wishes of do-not-disturb: Until, Follow and Critical.
type Quieter interface {
	Quiet() window.Quiet
	SetQuiet(window.Quiet) error // Until and Critical
}

// A Recorder is what keys and the tray ask of the recording of the operator's work. Errors are shown to the
// operator.
type Recorder interface {
	// ToggleRecording pauses the recording that runs, goes on with a paused one, or begins one for the
	// operation the operator has claimed.
	ToggleRecording(ctx context.Context) error
	StopRecording(ctx context.Context) error
	DiscardRecording(ctx context.Context) error
	// WatchRecording reports what the tray shows of it, each change until ctx is done.
	WatchRecording(ctx context.Context, changed func(window.Recording))
}

// A Broken is the error of an Open that found a database that cannot be used as it is, and what can be done about it.
type Broken struct {
	Err        error
	View       BrokenView
	Plan       func(ctx context.Context) ([]human.Sentence, error) // what a repair would do
	Repair     func(ctx context.Context, backup string) error      // or, with the ID of a backup, restores that
	OpenFolder func() error
}

func (b *Broken) Error() string { return b.Err.Error() }
func (b *Broken) Unwrap() error { return b.Err }

// A BrokenView is what the page says of it.
type BrokenView struct {
	Folder  string           `json:"folder"` // with the data
	Found   []human.Sentence `json:"found"`
	Backups []human.Archive  `json:"backups"` // the newest first
	Locale  string           `json:"locale"`  // as in Session
	Theme   string           `json:"theme"`
}

// A Repaired is what a repair would do; or why that is not known, or why it failed.
type Repaired struct {
	Lines  []human.Sentence `json:"lines"`
	Failed *human.Sentence  `json:"failed,omitempty"`
}

// Deps is what the window is built with. Open is called once, off the main thread, when it is certain
// that no other instance runs; its error is shown and ends the program.
type Deps struct {
	Open     func(ctx context.Context) (Home, error)
	Instance string   // tells programs with different data folders apart; "" is "deskbell"
	Args     []string // what to show first, as cli.StartArgs
	Places   string   // the file that keeps where the console stood; "" keeps nothing
	Locale   string   // for the texts shown before Home is open
	Log      *slog.Logger
}

// App is the window: what a page in a browser cannot do for itself. Its exported methods, and no others,
// are bound to the page as window.go.main.App.NAME(...), each returning a Promise that rejects with the
// error's text:
//
//	Session(): Promise<{url, token, locale, theme, operator, popup, turn}>  waits until the API answers
//	Mode(mode: "popup"|"recorder"|"console"|"hidden", height, turn: number): Promise<Placement>
//	                                                               recorder: the sign that the desktop is recorded
//	Focus(): Promise<void>                                         the popup gets the keyboard: call it when
//	                                                               the operator clicks a text field in a card
//	Notify(notice: Notice): Promise<boolean>                       false: no one shows notifications here
//	Dismiss(id: string): Promise<void>
//	Desktop(): Promise<DesktopState>                               what this session can and cannot do
//	PickFolder(): Promise<string>                                  "" when the operator picked none
//	Save(name: string, path: string): Promise<string>              asks where, and writes there what GET path
//	                                                               answers; "" when the operator thought better
//	Broken(): Promise<BrokenView|null>                             why Session waits: the database cannot be used
//	Plan(): Promise<Repaired>                                      what a repair would do
//	Repair(backup: string): Promise<Repaired>                      repairs it, or restores the backup with this ID
//	OpenFolder(): Promise<void>                                    the data folder, in the file manager
//	Quit(): Promise<void>                                          asks first while something waits
//
// Events, through window.runtime.EventsOn(NAME, callback):
//
//	"mode"   (mode: string)                 the window changed without the page asking: closed, reopened
//	"open"   (id: string)                   show this operation or page; the console is up already
//	"keys"   ()                             Ctrl Alt B: the popup has the keyboard, focus the front card
//	"quiet"  (on, critical: boolean)        no cards and no notifications now, but, with critical, of critical risk
//	"broken" ()                             Broken says something
//	"woke"   ()                             the machine has woken from sleep
//	"failed" (operationID, message: string) an answer given in a notification did not arrive
type App struct {
	deps   Deps
	log    *slog.Logger
	window window.Window

	ctx      context.Context // Wails', valid from startup on
	life     context.Context // ends when the window has gone
	stop     context.CancelFunc
	running  sync.WaitGroup
	opened   chan struct{} // closed when home or openErr is set
	home     Home
	openErr  error
	words    window.Words
	places   *window.Places
	tray     *window.TrayIcon
	notifier notifier

	mu       sync.Mutex
	mode     string
	turn     int           // how often the mode has changed without the page asking
	size     [2]int        // of the popup, as it was asked for
	monitors []window.Rect // on which the console was put in its place
	sign     window.Recording
	system   window.System
	quiet    window.Quiet
	loud     *time.Timer // looks again when quiet ends
	wanted   string      // what show was last asked for, until the page has heard of it
	broken   *Broken     // while there is no home because of it
	repaired chan struct{}
	quitting bool // told to, without asking
	gone     bool // Wails has been let
	asking   bool
	offered  map[string][]string // the actions each notification offered
}

// The modes of the window.
const (
	modePopup    = "popup"
	modeRecorder = "recorder" // a popup with the recorder's sign and nothing else
	modeConsole  = "console"
	modeHidden   = "hidden"
)

// A Placement is how the window stands after a change of mode, in CSS pixels. In popup mode the cards are
// to be drawn Pad pixels inside the window on every side; without transparency Pad is 0 and the page
// paints its ground.
type Placement struct {
	Mode        string `json:"mode"`
	Width       int    `json:"width"`
	Height      int    `json:"height"`
	Pad         int    `json:"pad"`
	Transparent bool   `json:"transparent"`
	Turn        int    `json:"turn"`
}

// A Notice is an operation that rings, as the system's notification shows it.
type Notice struct {
	ID    string `json:"id"`    // of the operation; with stop: before it, of its run that has stopped
	Kind  string `json:"kind"`  // the action_type
	Risk  string `json:"risk"`  // "" when the agent named none
	Title string `json:"title"` // who rings and what for, one line
	Body  string `json:"body"`
	Again bool   `json:"again"` // louder: it was shown before and no one has seen it, or a run has stopped
}

// DesktopState says what the session can do, for the card that tells the operator and for `doctor`.
type DesktopState struct {
	Notifications window.NotificationService `json:"notifications"`
	Window        window.Abilities           `json:"window"`
	Tray          bool                       `json:"tray"`
}

// NewApp makes the window; nothing is opened before run.
func NewApp(deps Deps) *App {
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	if deps.Instance == "" {
		deps.Instance = "deskbell"
	}
	life, stop := context.WithCancel(context.Background())
	return &App{
		life: life, stop: stop,
		deps: deps, log: deps.Log, window: window.NewWindow(), words: window.WordsFor(deps.Locale), places: &window.Places{File: deps.Places},
		opened: make(chan struct{}), mode: modeHidden, offered: map[string][]string{},
	}
}

// run shows the page in assets and blocks until the program quits. It must be called on the main
// goroutine, once. It is not exported, because whatever is exported is bound to the page.
func (a *App) run(assets fs.FS) error {
	if first, err := window.Single(a.deps.Instance, a.deps.Args, a.again); err != nil || !first {
		return err
	}
	if err := a.window.Prepare(true); err != nil {
		return human.Wrap(human.Unavailable, err, "Deskbell's window needs a display; `deskbell serve` runs without one")
	}
	err := wails.Run(&options.App{
		Title:  "Deskbell",
		Width:  consoleWidth,
		Height: consoleHigh,
		// Always hidden at first: the page decides what it is when it knows what rings.
		StartHidden: true,
		// macOS closes by hiding, so that OnBeforeClose is only asked when the operator quits; elsewhere
		// OnBeforeClose hides, so that the page hears of it.
		HideWindowOnClose:  goruntime.GOOS == "darwin",
		BackgroundColour:   background(),
		AssetServer:        &assetserver.Options{Assets: assets},
		OnStartup:          a.startup,
		OnDomReady:         a.domReady,
		OnBeforeClose:      a.beforeClose,
		OnShutdown:         a.shutdown,
		Bind:               []any{a},
		SingleInstanceLock: a.wailsLock(),
		Linux: &linux.Options{
			Icon:                window.PNG(window.AppIcon(256)),
			ProgramName:         "deskbell",
			WindowIsTranslucent: true,
			// Text and lines need no GPU, and drivers that lie about theirs show an empty window.
			WebviewGpuPolicy: linux.WebviewGpuPolicyNever,
		},
		Windows: &windows.Options{Theme: windows.SystemDefault, Messages: runtimeMissing()},
	})
	return errors.Join(a.openErr, err)
}

// runtimeMissing is what Windows' user reads where there is no WebView2, or too old a one; in both languages, since the settings are
// not read yet. Built with the tag wv2runtime.error, Wails downloads nothing.
func runtimeMissing() *windows.Messages {
	const english = "Deskbell's window needs Microsoft's WebView2 runtime, which this computer lacks or has too old. " +
		"Get it from https://developer.microsoft.com/microsoft-edge/webview2 (Evergreen Bootstrapper). Until then run deskbell serve, and use a browser."
	m := windows.DefaultMessages()
	m.Error, m.Webview2NotInstalled = "Deskbell", english
	m.ContactAdmin = english + "\n\nDeskbell 的窗口需要 Microsoft WebView2 运行时，而这台计算机上没有，或版本过旧。" +
		"请从 https://developer.microsoft.com/microsoft-edge/webview2 获取（Evergreen Bootstrapper）。在此之前，可以运行 deskbell serve，在浏览器中使用。"
	return m
}

// wailsLock is Wails' own way to have one instance, where window.Single has none.
func (a *App) wailsLock() *options.SingleInstanceLock {
	if goruntime.GOOS == "linux" {
		return nil
	}
	return &options.SingleInstanceLock{
		UniqueId:               a.deps.Instance,
		OnSecondInstanceLaunch: func(second options.SecondInstanceData) { a.again(cli.StartArgs(second.Args)) },
	}
}

// again does what a later start of the program asks for. Any program of this user can send it: it shows something or
// holds cards back for a while, and answers nothing.
func (a *App) again(args []string) {
	if len(args) == 2 && args[0] == cli.QuietStart && a.ready() {
		a.setQuiet(window.Choice{Do: window.QuietCommand, To: args[1]})
	}
	if where, show := destination(args); show {
		a.show(where.String())
	}
}

// destination is what args want to be shown, if anything. What is no destination shows the window alone.
func destination(args []string) (where human.Destination, show bool) {
	if len(args) == 0 {
		return where, true
	}
	if args[0] != "open" {
		return where, false
	}
	if len(args) > 1 {
		where, _ = human.ParseDestination(args[1])
	}
	return where, true
}

// startup runs on a goroutine of Wails beside the start of the main loop.
func (a *App) startup(ctx context.Context) {
	defer close(a.opened)
	a.ctx = ctx
	a.running.Go(func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
		defer signal.Stop(signals)
		select {
		case <-signals:
			a.exit() // Wails catches them too, but asks beforeClose, which hides
		case <-a.life.Done():
		}
	})
	if err := a.window.Adopt(a.hotkey); err != nil {
		a.log.Warn("the window is Wails' alone", "reason", err)
	}
	a.home, a.openErr = a.open()
	if a.life.Err() != nil && a.openErr != nil {
		return // it quits
	}
	if a.openErr != nil {
		a.log.Error("cannot start", "error", a.openErr)
		_, _ = runtime.MessageDialog(ctx, runtime.MessageDialogOptions{
			Type: runtime.ErrorDialog, Title: a.words.Failed, Message: printfSafe(human.SafeText(a.openErr)),
		})
		a.exit()
		return
	}
	if a.home.Session.Locale != "" {
		a.words = window.WordsFor(a.home.Session.Locale)
	}
	a.tray = window.StartTray(window.Tray{Words: a.words, Keys: a.window.Abilities(), Chosen: a.chosen, Opened: a.status}, a.log)
	a.count(a.home.Pending())
	notifier, err := openNotifier(ctx, a.words, a.respond)
	if err != nil {
		a.log.Warn("no notifications", "reason", err)
	}
	a.notifier = notifier
	if report := a.home.Session.Crash; report != "" {
		a.running.Go(func() {
			if _, err := a.Notify(Notice{ID: "crash", Title: a.words.Crashed, Body: a.words.CrashText(report)}); err != nil {
				a.log.Warn("showing a notification", "error", err)
			}
		})
	}
	a.running.Go(func() { a.home.Watch(a.life, a.count) })
	a.home.OnSettings(a.requiet)
	a.running.Go(func() {
		window.WatchSystemQuiet(a.life, func(s window.System) {
			a.mu.Lock()
			a.system = s
			a.mu.Unlock()
			a.requiet()
		})
	})
	a.requiet()
	a.running.Go(a.watchStatus)
	a.running.Go(a.wakes)
	a.running.Go(func() {
		if err := window.WatchShortcuts(a.life, a.words, a.shortcut); err != nil && !errors.Is(err, window.ErrUnsupported) {
			a.log.Warn("no hot keys from the desktop", "reason", err)
		}
	})
	a.running.Go(func() { a.home.Recorder.WatchRecording(a.life, a.recording) })
}

// open opens Home. Where the database cannot be used, the window says so until it is repaired, and opens Home again; it returns the
// error when the program ends before.
func (a *App) open() (home Home, err error) {
	for {
		var broken *Broken
		if home, err = a.deps.Open(a.life); !errors.As(err, &broken) {
			return home, err
		}
		a.log.Error("cannot start", "error", err)
		repaired := make(chan struct{})
		a.mu.Lock()
		a.broken, a.repaired = broken, repaired
		a.mu.Unlock()
		a.turnTo(modeConsole, 0)
		runtime.EventsEmit(a.ctx, "broken")
		select {
		case <-repaired:
		case <-a.life.Done():
			return home, err
		}
	}
}

// isBroken returns why the window has no Home, where that can be repaired; else nil.
func (a *App) isBroken() *Broken {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.broken
}

// Broken says why there is no Session yet, where the database cannot be used. See App.
func (a *App) Broken() *BrokenView {
	if b := a.isBroken(); b != nil {
		return &b.View
	}
	return nil
}

// Plan says what a repair would do. See App.
func (a *App) Plan() Repaired {
	b := a.isBroken()
	if b == nil {
		return Repaired{}
	}
	lines, err := b.Plan(a.life)
	return a.orFailed(lines, err)
}

// Repair repairs the database, or restores a backup; Home is opened again then. See App.
func (a *App) Repair(backup string) Repaired {
	b := a.isBroken()
	if b == nil {
		return Repaired{}
	}
	err := b.Repair(a.life, backup)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil && a.broken == b {
		a.broken = nil
		close(a.repaired)
	}
	return a.orFailed(nil, err)
}

func (a *App) orFailed(lines []human.Sentence, err error) Repaired {
	if err == nil {
		return Repaired{Lines: lines}
	}
	a.log.Error("the database is not repaired", "error", err)
	failed := human.Sentence{Text: human.SafeText(err)}
	var said *human.Error
	if errors.As(err, &said) {
		failed = said.Said
	}
	return Repaired{Failed: &failed}
}

// OpenFolder shows the data folder in the desktop's file manager. See App.
func (a *App) OpenFolder() error {
	if b := a.isBroken(); b != nil {
		return b.OpenFolder()
	}
	return nil
}

// count has the tray show how many operations wait, and the most urgent of them.
func (a *App) count(pending int) {
	waiting := a.home.Waiting()
	a.tray.Update(func(s *window.TrayState) { s.Pending, s.Waiting = pending, waiting })
}

// status has the tray say how the rest of the program stands.
func (a *App) status() {
	ctx, cancel := context.WithTimeout(a.life, 5*time.Second)
	defer cancel()
	status := a.home.Status(ctx)
	a.tray.Update(func(s *window.TrayState) { s.Status = status })
}

// watchStatus looks at what changes without a signal, for panels that do not say when their menu is read.
func (a *App) watchStatus() {
	every := time.NewTicker(time.Minute)
	defer every.Stop()
	for {
		a.status()
		select {
		case <-every.C:
		case <-a.life.Done():
			return
		}
	}
}

// requiet looks whether the operator is not to be disturbed now, tells the tray and the page, and comes back when that ends.
func (a *App) requiet() {
	now := time.Now()
	quiet := a.home.Quieter.Quiet()
	a.mu.Lock()
	quiet.System = a.system
	quiet = quiet.At(now)
	changed := quiet != a.quiet
	a.quiet = quiet
	if a.loud != nil {
		a.loud.Stop()
		a.loud = nil
	}
	if quiet.Until.After(now) && a.life.Err() == nil {
		a.loud = time.AfterFunc(quiet.Until.Sub(now)+time.Second, a.requiet)
	}
	a.mu.Unlock()
	if changed {
		a.tray.Update(func(s *window.TrayState) { s.Quiet = quiet })
		runtime.EventsEmit(a.ctx, "quiet", quiet.On, quiet.Critical)
	}
}

// wakes looks at everything again whenever the machine has woken from sleep: timers stood still.
func (a *App) wakes() {
	for {
		select {
		case <-a.home.Woke:
			a.requiet()
			a.count(a.home.Pending())
			runtime.EventsEmit(a.ctx, "woke")
		case <-a.life.Done():
			return
		}
	}
}

// setQuiet changes do-not-disturb. Where the settings do not let it, they are shown.
func (a *App) setQuiet(c window.Choice) {
	quiet := a.home.Quieter.Quiet()
	if c.Do == window.CriticalCommand {
		quiet.Critical = !quiet.Critical
	} else {
		quiet.Until, _ = window.QuietEnd(c.To, time.Now()) // the zero time ends it
	}
	if err := a.home.Quieter.SetQuiet(quiet); err != nil {
		a.log.Warn("do-not-disturb was not changed", "error", err)
		a.show("settings")
	}
}

// chosen does what was chosen in the tray.
func (a *App) chosen(c window.Choice) {
	switch c.Do {
	case window.OpenCommand:
		a.show(c.To)
	case window.QuietCommand, window.CriticalCommand:
		a.setQuiet(c)
	case window.RecordCommand:
		a.recorder(Recorder.ToggleRecording)
	case window.StopCommand:
		a.recorder(Recorder.StopRecording)
	case window.DiscardCommand:
		a.discard()
	case window.QuitCommand:
		a.Quit()
	}
}

// ready waits until startup is over and tells whether it went well.
func (a *App) ready() bool {
	<-a.opened
	return a.openErr == nil
}

func (a *App) domReady(context.Context) {
	go func() {
		where, show := destination(a.deps.Args)
		if show && a.ready() && a.currentMode() == modeHidden {
			a.show(where.String())
		}
	}()
}

func (a *App) currentMode() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mode
}

// beforeClose is asked when the window's close button is pressed, and when the program has to quit.
func (a *App) beforeClose(context.Context) (prevent bool) {
	a.mu.Lock()
	a.quitting = a.quitting || a.broken != nil // there is nothing to come back to
	quitting, gone := a.quitting, a.gone
	a.gone = quitting
	a.mu.Unlock()
	switch {
	case quitting:
		// Once only: a second gtk_main_quit, which Wails calls on a thread of its own, reads a loop that the
		// main thread has freed. A signal comes here twice, from Wails and from startup.
		return gone
	case goruntime.GOOS == "darwin":
		return !a.mayQuit()
	}
	// While the desktop is recorded there is always a sign of it.
	mode, height := modeHidden, 0
	if a.recordingNow() {
		mode, height = modeRecorder, recorderHigh
	}
	a.turnTo(mode, height)
	return true
}

func (a *App) recordingNow() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sign != window.NotRecording
}

// recording shows in the tray whether work is recorded. A window that was only its sign goes with its end.
func (a *App) recording(sign window.Recording) {
	a.tray.Update(func(s *window.TrayState) { s.Recording = sign })
	a.mu.Lock()
	a.sign = sign
	over := sign == window.NotRecording && a.mode == modeRecorder
	a.mu.Unlock()
	if over {
		a.show("")
	}
}

// recorder does what a key or the tray asked, and tells the operator when it could not be done.
func (a *App) recorder(do func(Recorder, context.Context) error) {
	if !a.ready() {
		return
	}
	ctx, cancel := context.WithTimeout(a.life, 30*time.Second)
	defer cancel()
	if err := do(a.home.Recorder, ctx); err != nil {
		a.log.Warn("the recorder did not do what was asked", "error", err)
		if _, err := a.Notify(Notice{ID: "recorder", Title: a.words.NotRecorded, Body: human.SafeText(err)}); err != nil {
			a.log.Warn("showing a notification", "error", err)
		}
		a.show("")
	}
}

// discard asks first: what is discarded is gone.
func (a *App) discard() {
	if a.ask(a.words.Discard, a.words.DiscardQuestion) {
		a.recorder(Recorder.DiscardRecording)
	}
}

// shutdown runs after the main loop: the transports first, then the app.
func (a *App) shutdown(context.Context) {
	a.stop()
	opened := a.ready()
	a.running.Wait()
	if !opened {
		return
	}
	a.tray.Stop()
	if a.notifier != nil {
		a.notifier.Close()
	}
	a.home.Close()
}

// exit quits without asking.
func (a *App) exit() {
	a.mu.Lock()
	a.quitting = true
	a.mu.Unlock()
	runtime.Quit(a.ctx)
}

// mayQuit asks the operator when something waits.
func (a *App) mayQuit() bool {
	if a.isBroken() != nil || !a.ready() {
		return true
	}
	pending := a.home.Pending()
	if pending == 0 {
		return true
	}
	return a.ask(a.words.QuitTitle, a.words.QuitQuestion(pending))
}

// ask asks the operator a question. A second one while the first is open is a no.
func (a *App) ask(title, question string) bool {
	a.mu.Lock()
	asking := a.asking
	a.asking = true
	a.mu.Unlock()
	if asking {
		return false
	}
	defer func() {
		a.mu.Lock()
		a.asking = false
		a.mu.Unlock()
	}()
	answer, err := runtime.MessageDialog(a.ctx, runtime.MessageDialogOptions{
		Type: runtime.QuestionDialog, Title: title, Message: printfSafe(question),
		Buttons: []string{"Yes", "No"}, DefaultButton: "No", CancelButton: "No",
	})
	return err == nil && answer == "Yes"
}

// hotkey is a key that was pressed in any program.
func (a *App) hotkey(key window.Hotkey, shown bool) {
	switch {
	case key == window.Moved:
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.mode == modeConsole {
			a.keepPlace()
		}
	case key == window.Rearranged:
		a.rearranged()
	case key == window.RecordKey:
		a.recorder(Recorder.ToggleRecording)
	case key == window.StopKey:
		a.recorder(Recorder.StopRecording)
	case shown:
		runtime.EventsEmit(a.ctx, "keys")
	default:
		a.show("")
	}
}

// shortcut is a hot key that came from the desktop, which gives no keyboard to the window.
func (a *App) shortcut(key window.Hotkey) {
	shown := a.currentMode() != modeHidden
	if shown && key == window.BellKey {
		if err := a.Focus(); err != nil {
			a.log.Warn("the keyboard to the window", "error", err)
		}
	}
	a.hotkey(key, shown)
}

// show brings up the console, at an operation or a page unless id is empty.
func (a *App) show(id string) {
	if a.isBroken() != nil {
		a.turnTo(modeConsole, 0)
		return
	}
	if !a.ready() {
		return
	}
	if id != "" {
		a.mu.Lock()
		a.wanted = id
		a.mu.Unlock()
	}
	a.turnTo(modeConsole, 0)
	if id != "" {
		runtime.EventsEmit(a.ctx, "open", id)
	}
}

// Session waits until the API answers. See App.
func (a *App) Session() (Session, error) {
	if !a.ready() {
		return Session{}, errors.New(human.SafeText(a.openErr))
	}
	session := a.home.Session
	session.Popup = a.popupLook()
	a.mu.Lock()
	defer a.mu.Unlock()
	session.Mode, session.Turn, session.Open = a.mode, a.turn, a.wanted
	session.Quiet, session.QuietCritical = a.quiet.On, a.quiet.Critical
	a.wanted = ""
	return session, nil
}

// popupLook is what is known of a popup before it is placed.
func (a *App) popupLook() Placement {
	if a.window.Abilities().Transparent {
		return Placement{Mode: modePopup, Pad: popupPad, Transparent: true}
	}
	return Placement{Mode: modePopup}
}

// Mode makes the window a popup for a stack of cards height CSS pixels high, the console, or nothing. A
// popup called again moves to the screen the pointer is on and takes the new height; the Placement says
// how much of it fitted. turn is that of the last "mode" event: what the page asked before it heard of a newer one is not
// done, or a card that grows would close the console that the operator has just opened; the Placement then says what the
// window is. See App.
func (a *App) Mode(mode string, height, turn int) (Placement, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if turn != a.turn {
		p := a.popupLook()
		p.Mode, p.Turn = a.mode, a.turn
		return p, nil
	}
	return a.setMode(mode, height)
}

// turnTo changes the mode without the page asking, and tells the page.
func (a *App) turnTo(mode string, height int) {
	a.mu.Lock()
	if _, err := a.setMode(mode, height); err != nil {
		a.log.Warn("changing the window", "mode", mode, "error", err)
	}
	a.turn++
	turn := a.turn
	a.mu.Unlock()
	runtime.EventsEmit(a.ctx, "mode", mode, turn)
}

// setMode changes the mode. The caller holds mu.
func (a *App) setMode(mode string, height int) (Placement, error) {
	var p Placement
	var err error
	if mode == modeConsole && a.mode != modeConsole {
		a.recallPlace()
	} else if mode != modeConsole && a.mode == modeConsole {
		a.keepPlace()
	}
	switch mode {
	case modePopup:
		p, err = a.popup(popupWidth, height)
	case modeRecorder:
		p, err = a.popup(recorderWide, height)
	case modeConsole:
		p = Placement{Width: consoleWidth, Height: consoleHigh}
		a.limits(minWidth, minHeight)
		err = a.window.ShowConsole(window.Console{Width: consoleWidth, Height: consoleHigh, MinWidth: minWidth, MinHeight: minHeight})
		if errors.Is(err, window.ErrUnsupported) {
			err = nil
			runtime.WindowSetAlwaysOnTop(a.ctx, false)
			if a.mode != modeConsole {
				runtime.WindowSetSize(a.ctx, consoleWidth, consoleHigh)
				runtime.WindowCenter(a.ctx)
			}
			runtime.WindowUnminimise(a.ctx)
			runtime.WindowShow(a.ctx)
		}
	case modeHidden:
		err = a.window.Hide()
		if errors.Is(err, window.ErrUnsupported) {
			err = nil
			runtime.WindowHide(a.ctx)
		}
	default:
		return Placement{}, human.BadField("mode", "must be popup, recorder, console or hidden, not %q", mode)
	}
	if err != nil {
		return Placement{}, err
	}
	a.mode, p.Mode, p.Turn = mode, mode, a.turn
	return p, nil
}

// recallPlace has the console stand where it last stood on these monitors; else where it last stood, as far as that is in sight.
func (a *App) recallPlace() {
	monitors, err := a.window.Monitors()
	if err != nil || len(monitors) == 0 {
		return // it stands where the system puts it
	}
	a.monitors = monitors
	place, ok := a.places.Find(monitors)
	if !ok {
		if place, err = a.window.Place(); err != nil {
			return
		}
		place.Rect = window.Inside(place.Rect, monitors)
	}
	if err := a.window.SetPlace(place); err != nil {
		a.log.Warn("placing the window", "error", err)
	}
}

// rearranged puts what is shown where it belongs on monitors that have changed.
func (a *App) rearranged() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mode == modeConsole {
		a.recallPlace()
	}
	a.placeCards()
}

// keepPlace remembers where the console stands. What became of it when monitors changed is no choice of the operator's.
func (a *App) keepPlace() {
	monitors, err := a.window.Monitors()
	if err != nil || a.monitors != nil && !slices.Equal(monitors, a.monitors) {
		return
	}
	place, err := a.window.Place()
	if err == nil {
		err = a.places.Keep(monitors, place)
	}
	if err != nil {
		a.log.Warn("the window's place is not remembered", "error", err)
	}
}

// popup places the window; the caller holds mu.
func (a *App) popup(width, height int) (Placement, error) {
	p := a.popupLook()
	a.size = [2]int{width, height}
	above := 0
	if len(a.offered) > 0 {
		above = noticeRoom
	}
	a.limits(0, 0)
	screen, err := a.window.Screen()
	if err == nil {
		units := func(css int) int { return int(float64(css)*screen.Unit + 0.5) }
		screen.Work.Y += units(above)
		screen.Work.H -= units(above)
		at := window.TopRight(screen.Work, units(width), units(height), units(popupMargin)).Grow(units(p.Pad))
		p.Width, p.Height = int(float64(at.W)/screen.Unit), int(float64(at.H)/screen.Unit)
		return p, a.window.ShowPopup(window.Popup{At: at, Pad: units(p.Pad)})
	}
	if !errors.Is(err, window.ErrUnsupported) {
		return Placement{}, err
	}
	runtime.WindowSetAlwaysOnTop(a.ctx, true)
	runtime.WindowSetSize(a.ctx, width, height)
	if screens, err := runtime.ScreenGetAll(a.ctx); err == nil {
		if i := slices.IndexFunc(screens, func(s runtime.Screen) bool { return s.IsCurrent }); i >= 0 {
			runtime.WindowSetPosition(a.ctx, screens[i].Size.Width-width-popupMargin, popupMargin+above)
		}
	}
	runtime.WindowShow(a.ctx)
	return Placement{Width: width, Height: height}, nil
}

// limits sets the window's smallest size where Wails enforces it itself.
func (a *App) limits(width, height int) {
	if goruntime.GOOS != "linux" {
		runtime.WindowSetMinSize(a.ctx, width, height)
	}
}

// Focus gives the keyboard to the window; where a popup cannot have it, it becomes the console. See App.
func (a *App) Focus() error {
	err := a.window.Focus()
	if errors.Is(err, window.ErrNoKeys) {
		a.show("")
		return nil
	}
	if err != nil && !errors.Is(err, window.ErrUnsupported) {
		return err
	}
	return nil
}

// Notify shows the system's notification of a request, with the answers that are safe to
// give without seeing it: approving only where the agent named a low or medium risk. Cards that are up make room for it
// first: most systems show notifications in the same corner. See App.
func (a *App) Notify(n Notice) (shown bool, err error) {
	if !a.ready() || a.notifier == nil {
		return false, nil
	}
	category := categoryOpen
	if n.Kind == string(human.Approve) {
		category = categoryRisky
		if n.Risk == string(human.LowRisk) || n.Risk == string(human.MediumRisk) {
			category = categoryApprove
		}
	}
	a.offer(func() { a.offered[n.ID] = categories[category] })
	ctx, cancel := context.WithTimeout(a.ctx, 5*time.Second)
	defer cancel()
	urgent := human.Risk(n.Risk).Dangerous()
	if n.Again {
		// Services may only change the text of one that is up.
		if err := a.notifier.Dismiss(ctx, n.ID); err != nil {
			a.log.Warn("a notification could not be shown as a new one", "error", err)
		}
		urgent = urgent || a.mayBeUrgent()
	}
	err = a.notifier.Send(ctx, n, category, urgent)
	if err != nil {
		a.offer(func() { delete(a.offered, n.ID) })
	}
	if errors.Is(err, window.ErrUnsupported) {
		return false, nil
	}
	return err == nil, err
}

// mayBeUrgent says whether an urgent notification breaks through no do-not-disturb of the system's that counts.
func (a *App) mayBeUrgent() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.quiet.Follow || a.quiet.System == window.SystemLoud
}

// offer changes which notifications are up, and puts cards that are up where these leave room.
func (a *App) offer(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
	a.placeCards()
}

// placeCards places cards that are up again. The caller holds mu.
func (a *App) placeCards() {
	if a.mode == modePopup || a.mode == modeRecorder {
		if _, err := a.popup(a.size[0], a.size[1]); err != nil {
			a.log.Warn("placing cards", "error", err)
		}
	}
}

// Dismiss takes an operation's notification away. See App.
func (a *App) Dismiss(id string) error {
	if !a.ready() || a.notifier == nil {
		return nil
	}
	a.mu.Lock()
	delete(a.offered, id)
	a.mu.Unlock()
	ctx, cancel := context.WithTimeout(a.ctx, 5*time.Second)
	defer cancel()
	return a.notifier.Dismiss(ctx, id)
}

// Desktop says what the session can do. See App.
func (a *App) Desktop() DesktopState {
	ctx, cancel := context.WithTimeout(a.ctx, 5*time.Second)
	defer cancel()
	state := DesktopState{Notifications: window.FindNotificationService(ctx), Window: a.window.Abilities()}
	if a.ready() {
		state.Tray = a.tray.Shown()
	}
	return state
}

// PickFolder asks the operator for a folder. See App.
func (a *App) PickFolder() (string, error) {
	return runtime.OpenDirectoryDialog(a.ctx, runtime.OpenDialogOptions{CanCreateDirectories: true})
}

// Save writes an answer of the API into a file the operator chooses: the engines of the window do not all
// download. See App.
func (a *App) Save(name, path string) (string, error) {
	if !a.ready() || !strings.HasPrefix(path, "/api/") {
		return "", human.BadField("path", "%q is not of the API", path)
	}
	file, err := runtime.SaveFileDialog(a.ctx, runtime.SaveDialogOptions{DefaultFilename: filepath.Base(name)})
	if err != nil || file == "" {
		return "", err
	}
	request, err := http.NewRequestWithContext(a.life, http.MethodGet, a.home.Session.URL+path, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+a.home.Session.Token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return "", human.Errorf(human.Unavailable, "Deskbell answered %s; nothing was written", answer.Status)
	}
	_, err = disk.Replace(file, answer.Body, 0o600)
	return file, err
}

// Quit ends the program, asking first while operations wait. See App.
func (a *App) Quit() {
	if a.mayQuit() {
		a.exit()
	}
}

// respond acts on a click in a notification. It does not need the page.
func (a *App) respond(id, action string) {
	a.mu.Lock()
	offered := a.offered[id]
	delete(a.offered, id)
	a.mu.Unlock()
	switch {
	case action == actionOpen && (id == "crash" || id == "recorder"):
		a.show("") // these are of no operation
	case action == actionOpen:
		a.show(id)
	case slices.Contains(offered, action): // whatever a service sends, only what was offered counts
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := a.home.Answerer.Answer(ctx, id, action); err != nil {
			a.log.Warn("an answer from a notification did not arrive", "operation", id, "decision", action, "error", err)
			a.failed(id, human.SafeText(err))
		}
	default:
		a.log.Warn("a notification answered what it did not offer", "operation", id, "action", action)
	}
}

// failed tells the operator, who may see no page, that an answer did not arrive.
func (a *App) failed(id, message string) {
	runtime.EventsEmit(a.ctx, "failed", id, message)
	if _, err := a.Notify(Notice{ID: id, Title: a.words.NotSent, Body: message}); err != nil {
		a.log.Warn("showing a notification", "error", err)
	}
}

// The actions of notifications. The first two are decisions, as Answerer takes them.
const (
	actionApprove = string(human.Approved)
	actionDeny    = string(human.Refused)
	actionOpen    = "open"
)

// What a notification offers.
const (
	categoryApprove = "approve"
	categoryRisky   = "risky"
	categoryOpen    = "open"
)

var categories = map[string][]string{
	categoryApprove: {actionApprove, actionDeny, actionOpen},
	categoryRisky:   {actionOpen, actionDeny},
	categoryOpen:    {actionOpen},
}

// A notifier shows notifications and reports clicks, by operation and action, until Close. A click on the
// notification itself is actionOpen.
type notifier interface {
	Send(ctx context.Context, n Notice, category string, urgent bool) error
	Dismiss(ctx context.Context, id string) error
	Close()
}

func openNotifier(ctx context.Context, words window.Words, clicked func(id, action string)) (notifier, error) {
	labels := map[string]string{actionApprove: words.Approve, actionDeny: words.Deny, actionOpen: words.Open}
	bus, err := window.OpenNotifications("Deskbell", "deskbell", func(id, action string) {
		if action == window.DefaultAction {
			action = actionOpen
		}
		clicked(id, action)
	})
	if err == nil {
		return busNotifier{bus, labels}, nil
	}
	if !errors.Is(err, window.ErrUnsupported) {
		return nil, err
	}
	if err := runtime.InitializeNotifications(ctx); err != nil {
		return nil, err
	}
	for id, actions := range categories {
		category := runtime.NotificationCategory{ID: id}
		for _, action := range actions {
			category.Actions = append(category.Actions, runtime.NotificationAction{ID: action, Title: labels[action]})
		}
		if err := runtime.RegisterNotificationCategory(ctx, category); err != nil {
			return nil, err
		}
	}
	runtime.OnNotificationResponse(ctx, func(result runtime.NotificationResult) {
		if result.Error != nil {
			return
		}
		action := result.Response.ActionIdentifier
		if action == "DEFAULT_ACTION" {
			action = actionOpen
		}
		clicked(result.Response.ID, action)
	})
	return wailsNotifier{ctx}, nil
}

// busNotifier is Linux.
type busNotifier struct {
	*window.Notifications
	labels map[string]string
}

func (b busNotifier) Send(ctx context.Context, n Notice, category string, urgent bool) error {
	var actions []window.Action
	for _, id := range categories[category] {
		actions = append(actions, window.Action{ID: id, Label: b.labels[id]})
	}
	return b.Notifications.Send(ctx, window.Notification{ID: n.ID, Title: n.Title, Body: n.Body, Urgent: urgent, Sound: n.Again, Actions: actions})
}

// wailsNotifier is Windows and macOS.
type wailsNotifier struct{ ctx context.Context }

// Send asks macOS for the operator's consent the first time, which waits for the operator; afterwards, and
// on Windows, the system answers at once.
func (w wailsNotifier) Send(_ context.Context, n Notice, category string, _ bool) error {
	if allowed, err := runtime.RequestNotificationAuthorization(w.ctx); err != nil || !allowed {
		return errors.Join(window.ErrUnsupported, err)
	}
	return runtime.SendNotificationWithActions(w.ctx, runtime.NotificationOptions{ID: n.ID, Title: n.Title, Body: n.Body, CategoryID: category})
}

func (w wailsNotifier) Dismiss(_ context.Context, id string) error {
	return runtime.RemoveNotification(w.ctx, id)
}

func (w wailsNotifier) Close() { runtime.CleanupNotifications(w.ctx) }

// printfSafe keeps per cent signs: on Linux Wails hands a dialog's message to GTK as a format.
func printfSafe(message string) string {
	if goruntime.GOOS == "linux" {
		return strings.ReplaceAll(message, "%", "%%")
	}
	return message
}

// background is the ground behind the page: none on Linux, where the popup may be transparent and the
// page paints its own; the light canvas elsewhere.
func background() *options.RGBA {
	if goruntime.GOOS == "linux" {
		return options.NewRGBA(0xf2, 0xf2, 0xef, 0)
	}
	return options.NewRGB(0xf2, 0xf2, 0xef)
}
