// Package app is the only wiring of Deskbell: it opens the data folder, puts the parts together, and closes them again in
// order.
package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"deskbell/backend/agent/host"
	"deskbell/backend/gate"
	"deskbell/backend/gate/callers"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/plan"
	"deskbell/backend/platform"
	"deskbell/backend/platform/updates"
	"deskbell/backend/platform/window"
	"deskbell/backend/plugins"
	"deskbell/backend/procedure"
	"deskbell/backend/queue"
	"deskbell/backend/queue/outbox"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/queue/stepup"
	"deskbell/backend/record"
	"deskbell/backend/record/library"
	"deskbell/backend/record/masking"
	"deskbell/backend/record/retention"
	"deskbell/backend/record/term"
	"deskbell/backend/store/archive"
	"deskbell/backend/store/attachments"
	"deskbell/backend/store/backups"
	"deskbell/backend/store/casts"
	"deskbell/backend/store/datadir"
	"deskbell/backend/store/pictures"
	"deskbell/backend/store/receiptkeys"
	"deskbell/backend/store/settings"
	"deskbell/backend/store/sinks"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/summary"
	"deskbell/backend/transport/api"
	"deskbell/backend/transport/cli"
	"deskbell/backend/transport/telemetry"
)

// Config is what an App is opened with.
type Config struct {
	Dir     string           // the data folder
	Config  *settings.Config // as read from it
	Version string
	Built   string // as in cli.Program
	Console fs.FS  // the page; nil serves none
	InApp   bool   // the window's page may call the API from its own origin
	Errors  io.Writer
	Woke    func() // called when the machine has woken from sleep, on a goroutine of its own; nil: nobody wants to know
}

// An App is Deskbell without its window. Open, then Run once; or Close without Run.
type App struct {
	Config
	settings settings.Settings // as they were when it was opened
	claim    *datadir.Claim
	log      *slog.Logger
	masker   *masking.Masker
	ready    chan struct{}
	crash    string // see Crash

	store *sqlite.Store

	receiptKeys *receiptkeys.Keys
	audits      *receipt.Watch
	pictures    *pictures.Store
	casts       *casts.Store
	attachments *attachments.Store
	backups     *backups.Store
	listener    net.Listener
	socket      net.Listener // nil where there is none
	sources     record.Deps

	queue      *queue.Queue
	team       *membership
	recorder   *record.Recorder // nil when recording is switched off
	terminals  *term.Service
	library    *library.Library
	replays    *library.Replays
	registry   *plugins.Registry
	summaries  *summary.Service
	gate       *service.Service
	policy     func() gate.Policy
	clients    *clients
	plans      *plan.Service
	procedures *procedure.Service
	stepUp     *stepup.Service

	metrics  *telemetry.Metrics // nil when they are off
	traces   *telemetry.Traces  // nil when they are off
	scraper  string             // the token that reads metrics
	observed uint64             // the seq up to which metrics and traces do not go back

	finished  *sinks.Log
	outbox    *outbox.Service
	retention *retention.Service
	archives  *archive.Service

	samples *cli.Samples
	api     *api.Server
	callers *callers.Service
	host    *host.Host

	opened  []func() error // how what was opened is closed again, in the order of opening
	closing sync.Once
	closed  error
}

// Open takes the data folder, opens the journal, loads the queue and listens. Nobody is answered before
// Run. When it fails, everything is as it was, and the error says what is wrong and what to do: another
// process holds the folder, the folder cannot be written, the address is taken.
func Open(ctx context.Context, c Config) (_ *App, err error) {
	if c.Errors == nil {
		c.Errors = os.Stderr
	}
	a := &App{Config: c, settings: c.Config.Settings(), masker: masking.New(), ready: make(chan struct{})}
	defer func() {
		if err != nil {
			_ = a.Close() // the first error is the one that counts
		}
	}()
	if a.claim, err = datadir.Take(c.Dir, c.Version); err != nil {
		return nil, err
	}
	a.opens(a.claim.Release)
	if err = a.finishRestore(); err != nil {
		return nil, err
	}
	log, file, err := datadir.OpenLog(c.Dir, c.Errors)
	if err != nil {
		return nil, human.Wrap(human.Unavailable, err, "the log in %s cannot be written; check the folder's permissions", c.Dir)
	}
	a.log = log
	a.opens(file.Close)
	a.openCrashes()
	links, err := datadir.Tighten(c.Dir)
	if err != nil {
		return nil, err
	}
	for _, link := range links {
		a.log.Warn("the data folder holds a symbolic link; what it leads to may be read and changed by others", "link", link)
	}
	if err = a.openStore(ctx); err != nil {
		return nil, err
	}
	if err = a.openTeam(ctx); err != nil {
		return nil, err
	}
	if err = a.openQueue(ctx); err != nil {
		return nil, err
	}
	if a.listener, err = api.Listen(ctx, a.settings.Server.Addr); err != nil {
		return nil, err
	}
	a.opens(func() error {
		if err := a.listener.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	})
	a.openSocket()
	if err = a.openCallers(ctx); err != nil {
		return nil, err
	}
	a.openRecorder()
	a.openSummaries()
	if err = a.openGate(ctx); err != nil {
		return nil, err
	}
	a.openTerminals()
	a.openPlans()
	if err = a.openProcedures(ctx); err != nil {
		return nil, err
	}
	a.openOutbox()
	a.openRetention()
	a.openArchives()
	if err = a.openStepUp(ctx); err != nil {
		return nil, err
	}
	a.startsWithSession()
	return a, a.openAPI()
}

// startsWithSession has the entry by which Deskbell starts when the user logs in follow its setting. When it opens, an entry is only made or
// put right, never removed: it may have been made by hand.
func (a *App) startsWithSession() {
	var mu sync.Mutex
	was := false
	follow := func() {
		mu.Lock()
		defer mu.Unlock()
		is := a.now().UI.StartWithSession
		if is || was {
			if where, err := (platform.Autostart{}).Set(is, a.Dir); err != nil {
				a.log.Warn("starting with the session was not changed", "entry", where, "err", err)
			}
		}
		was = is
	}
	follow()
	a.Config.Config.OnUpdate(follow)
}

// openCrashes says how the last run ended, where it did not end well, and has this one leave a report if it does not. Without reports
// Deskbell works as well.
func (a *App) openCrashes() {
	fresh, killed, err := datadir.Reports(a.Dir, a.masker.Text)
	if killed {
		a.log.Info("the last run was ended from outside, or the machine stopped; everything it had confirmed is stored")
	}
	for _, path := range fresh {
		a.crash = path
		a.log.Warn("Deskbell stopped unexpectedly in its last run; every request is stored, and a report without secrets is on disk", "report", path)
	}
	if err == nil {
		var stop func() error
		if stop, err = datadir.WatchCrashes(a.Dir, About(a.Version, a.Built)); err == nil {
			a.opens(stop)
		}
	}
	if err != nil {
		a.log.Warn("no reports of crashes", "err", err)
	}
}

// About are the lines on the program and the system that a report begins with.
func About(version, built string) string {
	return fmt.Sprintf("deskbell %s (%s)\n%s %s/%s\n%s", version, built, runtime.Version(), runtime.GOOS, runtime.GOARCH, system())
}

// system names the distribution, where there is one.
func system() string {
	text, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return runtime.GOOS
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			return strings.Trim(strings.TrimSpace(name), `"`)
		}
	}
	return runtime.GOOS
}

// Crash is the newest report of a crash that was made when this App opened; empty without one.
func (a *App) Crash() string { return a.crash }

// opens notes how to close what was opened.
func (a *App) opens(closes func() error) { a.opened = append(a.opened, closes) }

// Run answers requests until ctx ends, then shuts down: faces, recorder, queue, journal. Each face gives the
// requests under way a few seconds. It returns nil after an orderly end. The App is closed when it returns.
func (a *App) Run(ctx context.Context) error {
	faces, stopFaces := context.WithCancel(ctx)
	defer stopFaces()
	stopTelemetry := a.start(ctx, a.telemetry())
	stopQueue := a.start(ctx, map[string]func(context.Context) error{"queue": a.queue.Run})
	stopJobs := a.start(ctx, a.jobs())
	served := make(chan error, 1)
	listeners := []net.Listener{a.listener}
	if a.socket != nil {
		listeners = append(listeners, a.socket)
	}
	go func() { served <- a.api.Serve(faces, listeners...) }()
	if a.InApp {
		a.claim.HasWindow()
	}
	err := a.claim.Publish(a.URL(), a.socket != nil)
	if err == nil {
		a.log.Info("ready", "url", a.URL(), "data", a.Dir, "version", a.Version, "pid", os.Getpid())
		close(a.ready)
	} else {
		stopFaces()
	}
	if serveErr := <-served; serveErr != nil {
		err = errors.Join(err, human.Wrap(human.Internal, serveErr, "the server stopped by itself"))
	}
	a.samples.Close()
	a.replays.Close()
	stopJobs()
	stopQueue() // it sends what it holds, with a summary
	stopTelemetry()
	a.summaries.Close()
	a.log.Info("stopped")
	return errors.Join(err, a.Close())
}

// jobs are what runs beside the queue, and stops before it.
func (a *App) jobs() map[string]func(context.Context) error {
	jobs := map[string]func(context.Context) error{
		"storage":     a.watchStore,
		"gatekeeper":  a.gate.Run,
		"callers":     a.callers.Run,
		"audits":      a.audits.Run,
		"database":    a.checkDatabase,
		"outbox":      a.outbox.Run,
		"retention":   a.retention.Run,
		"archives":    a.archives.Run,
		"updates":     a.watchUpdates,
		"backups":     func(ctx context.Context) error { a.backups.Run(ctx, a.log); return nil },
		"attachments": func(ctx context.Context) error { return a.attachments.Run(ctx, a.queue.Names, a.log) },
		"wake": func(ctx context.Context) error {
			if err := platform.WatchSleep(ctx, a.woke); err != nil && ctx.Err() == nil {
				a.log.Info("what is due is not looked at when the machine wakes", "reason", err)
			}
			return nil
		},
	}
	a.team.jobs(jobs)
	jobs["terminals"] = a.terminals.Run
	jobs["terminals of operations"] = func(ctx context.Context) error { return a.terminals.EndWith(ctx, a.follow(ctx)) }
	if a.recorder != nil {
		jobs["recorder"] = a.recorder.Run
		jobs["recordings of operations"] = func(ctx context.Context) error { return a.recorder.EndWith(ctx, a.follow(ctx)) }
		jobs["summaries"] = func(ctx context.Context) error { a.recorder.Watch(ctx, a.summaries.Recording(ctx)); return nil }
	}
	return jobs
}

// start runs jobs until stop is called, which waits for them. A job that fails is in the log; the others go on.
func (a *App) start(ctx context.Context, jobs map[string]func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	for name, run := range jobs {
		running.Go(func() {
			if err := run(ctx); err != nil && ctx.Err() == nil {
				a.log.Error("a part of Deskbell stopped", "part", name, "err", err)
			}
		})
	}
	return func() { cancel(); running.Wait() }
}

// woke looks at what became due while the machine slept.
func (a *App) woke() {
	a.log.Info("the machine woke from sleep")
	a.queue.Recheck()
	if a.Woke != nil {
		a.Woke()
	}
}

// follow yields what happens to operations from now on.
func (a *App) follow(ctx context.Context) iter.Seq2[human.Entry, error] {
	head, err := a.queue.Head(ctx)
	if err != nil {
		return func(yield func(human.Entry, error) bool) { yield(human.Entry{}, err) }
	}
	return a.queue.Follow(ctx, a.operator(), head)
}

// Ready is closed when requests are answered.
func (a *App) Ready() <-chan struct{} { return a.ready }

// URL is the API's address on this machine, without a slash at the end.
func (a *App) URL() string { return api.URL(a.listener) }

// Invite makes a one-time code for an operator, and a link to the console with it in its fragment, which
// browsers send to no one. over is closed when they are of no use any more.
func (a *App) Invite() (code, link string, over <-chan struct{}) {
	code, over = a.api.NewCode()
	return code, a.URL() + "/#code=" + code, over
}

// WindowToken makes an operator's session for the window. It is the window's alone and never written down.
func (a *App) WindowToken() string { return a.api.WindowToken() }

// Window is what the window, its tray and its notifications do for the operator.
func (a *App) Window() window.Operator {
	return window.Operator{
		Queue: a.queue, Recorder: a.recorder, Runs: a.procedures, By: a.operator(),
		Options: func() human.RecordingOptions { return a.now().Record(human.RecordingOptions{}) },
	}
}

// Status is what the tray says of the gatekeeper, the agents and new versions. Connected are the clients in whose settings Deskbell
// is, and whoever else has a live connection.
func (a *App) Status(ctx context.Context) window.Status {
	s := window.Status{Policy: string(a.policy())}
	connected := map[string]bool{}
	if list, err := a.clients.List(ctx); err == nil {
		for _, c := range list {
			if c.Key != "" {
				connected[c.Key] = true
			}
		}
	}
	if keys, err := a.store.Keys(ctx); err == nil {
		for _, k := range keys {
			if a.queue.Online(k.Name) {
				connected[k.Name] = true
			}
		}
	}
	s.Agents = len(connected)
	if u := a.now().Updates; u.Check {
		if r, err := updates.Load(a.Dir); err == nil && r.Feed == u.Feed && r.NewerThan(a.Version) {
			s.Newer = r.Version
		}
	}
	return s
}

// Quiet is what the operator wishes of do-not-disturb.
func (a *App) Quiet() window.Quiet {
	n := a.now().Notifications
	return window.Quiet{Until: n.Quiet(), Follow: n.QuietWithSystem, Critical: n.QuietCritical}
}

// SetQuiet changes Until and Critical of it in the settings.
func (a *App) SetQuiet(q window.Quiet) error {
	text := ""
	if !q.Until.IsZero() {
		text = q.Until.Format(time.RFC3339)
	}
	until, err := json.Marshal(text)
	if err != nil {
		return err
	}
	_, err = a.Config.Config.Update(map[string]json.RawMessage{
		"notifications.quiet_until": until, "notifications.quiet_critical": json.RawMessage(strconv.FormatBool(q.Critical)),
	})
	return err
}

// operator is the person at this machine.
func (a *App) operator() human.Actor {
	return human.Actor{Role: human.Operator, Name: a.settings.Operator.Name}
}

// now are the settings as they are now: those that count at once.
func (a *App) now() settings.Settings { return a.Config.Config.Settings() }

// Close closes everything that Open opened. An App that ran is closed already.
func (a *App) Close() error {
	a.closing.Do(func() {
		for _, closes := range slices.Backward(a.opened) {
			a.closed = errors.Join(a.closed, closes())
		}
	})
	return a.closed
}

// newID makes an id that is not to be guessed and sorts by time.
func newID(prefix string) string { return prefix + strings.ToLower(ulid.Make().String()) }

// pause blocks for a time, or until ctx ends; then it returns ctx's error.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
