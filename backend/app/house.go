// Package app is the only wiring of Deskbell: it opens the data folder, puts the floors together, and
// takes them down again in order.
package app

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/plan"
	"deskbell/backend/queue"
	"deskbell/backend/record"
	"deskbell/backend/record/library"
	"deskbell/backend/store/backups"
	"deskbell/backend/store/datadir"
	"deskbell/backend/store/pictures"
	"deskbell/backend/store/settings"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/summary"
	"deskbell/backend/transport/api"
)

// Config is what a House is opened with.
type Config struct {
	Dir     string           // the data folder
	Config  *settings.Config // as read from it
	Version string
	Console fs.FS // the page; nil serves none
	InApp   bool  // the window's page may call the API from its own origin
	Errors  io.Writer
}

// A House is Deskbell without a face of its own. Open, then Run once; or Close without Run.
type House struct {
	config    Config
	settings  settings.Settings
	claim     *datadir.Claim
	log       *slog.Logger
	logFile   io.Closer
	store     *sqlite.Store
	queue     *queue.Queue
	pictures  *pictures.Store
	senses    record.Deps
	recorder  *record.Recorder // nil when recording is switched off
	replays   *library.Replays
	summaries *summary.Service
	gate      *service.Keeper
	plans     *plan.Service
	backups   *backups.Store
	listener  net.Listener
	api       *api.Server
	ready     chan struct{}
	life      context.Context // of the processes started here
	die       context.CancelFunc
	children  sync.WaitGroup
	closing   sync.Once
	closeErr  error
}

// farewell is how long the last write of something may take.
const farewell = 5 * time.Second

// Open takes the data folder, opens the journal, loads the queue and listens. Nobody is answered before
// Run. When it fails, everything is as it was, and the error says what is wrong and what to do: another
// process holds the folder, the folder cannot be written, the address is taken.
func Open(ctx context.Context, c Config) (_ *House, err error) {
	if c.Errors == nil {
		c.Errors = os.Stderr
	}
	h := &House{config: c, settings: c.Config.Settings(), ready: make(chan struct{})}
	h.life, h.die = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			_ = h.Close() // the first error is the one that counts
		}
	}()
	if h.claim, err = datadir.Take(c.Dir, c.Version); err != nil {
		return nil, err
	}
	if h.log, h.logFile, err = openLog(c.Dir, c.Errors); err != nil {
		return nil, human.Wrap(human.Unavailable, err, "the log in %s cannot be written; check the folder's permissions", c.Dir)
	}
	if h.store, err = sqlite.Open(ctx, c.Dir, sqlite.Options{}); err != nil {
		return nil, err
	}
	h.queue = queue.New(h.store, h.store, h.queueOptions())
	if err = h.queue.Load(ctx); err != nil {
		return nil, err
	}
	h.pictures = pictures.New(c.Dir)
	h.openRecorder()
	if h.listener, err = listen(ctx, h.settings.Server.Addr); err != nil {
		return nil, err
	}
	if err = h.build(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

func (h *House) queueOptions() queue.Options {
	s := h.settings
	return queue.Options{
		Disabled:       !s.Human.Enabled,
		DefaultTimeout: time.Duration(s.Human.DefaultTimeout) * time.Second,
		MaxPending:     s.Human.MaxPendingRequests,
		MaxHistory:     s.Human.MaxHistory,
		MaxDescription: s.Limits.MaxDescription,
		MaxDetails:     s.Limits.MaxDetails,
		MaxContext:     s.Limits.MaxContext,
		Summarize:      func(op human.Operation, a human.Answer) string { return h.summaries.Line(op, a) },
		Log:            h.log,
	}
}

// listen opens the address, or says who is in the way and what to do.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err == nil {
		return l, nil
	}
	if errors.Is(err, errInUse) {
		return nil, human.Wrap(human.Unavailable, err,
			"%s is taken by another program; stop that program, or choose another address with --addr, DESKBELL_ADDR or server.addr (port 0 takes any free one)", addr)
	}
	return nil, human.Wrap(human.Unavailable, err,
		"Deskbell cannot listen on %s; choose another address with --addr, DESKBELL_ADDR or server.addr", addr)
}

// Run answers requests until ctx ends, then shuts down: faces, recorder, queue, journal. Each face gives the
// requests under way a few seconds. It returns nil after an orderly end. The House is closed when it returns.
func (h *House) Run(ctx context.Context) error {
	faces, stopFaces := context.WithCancel(ctx)
	defer stopFaces()
	jobs, stopJobs := context.WithCancel(context.WithoutCancel(ctx))
	defer stopJobs()
	var running sync.WaitGroup
	running.Go(func() { _ = h.queue.Run(jobs) }) // it promises nil
	records, stopRecorder := context.WithCancel(context.WithoutCancel(ctx))
	defer stopRecorder()
	var recording sync.WaitGroup
	recording.Go(func() { h.endRecordings(records) })
	recording.Go(func() { h.runRecorder(records) })
	recording.Go(func() { h.draftSummaries(records) })
	recording.Go(func() { h.keepGate(records) })
	recording.Go(func() { h.pruneBackups(records) })

	served := make(chan error, 1)
	go func() { served <- h.api.Serve(faces, h.listener) }()
	err := h.claim.Publish(h.URL())
	if err == nil {
		h.log.Info("ready", "url", h.URL(), "data", h.config.Dir, "version", h.config.Version, "pid", os.Getpid())
		close(h.ready)
	} else {
		stopFaces()
	}
	if serveErr := <-served; serveErr != nil {
		err = errors.Join(err, human.Wrap(human.Internal, serveErr, "the server stopped by itself"))
	}
	h.die()
	h.children.Wait()
	h.replays.Close()
	stopRecorder()
	recording.Wait()
	h.summaries.Close()
	stopJobs()
	running.Wait()
	h.log.Info("stopped")
	return errors.Join(err, h.Close())
}

// Ready is closed when requests are answered.
func (h *House) Ready() <-chan struct{} { return h.ready }

// URL is the API's address on this machine, without a slash at the end.
func (h *House) URL() string {
	host, port, _ := net.SplitHostPort(h.listener.Addr().String()) // a TCP address always splits
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// Invite makes a one-time code for an operator, and a link to the console with it in its fragment, which
// browsers send to nobody.
func (h *House) Invite() (code, link string) {
	code = h.api.NewCode()
	return code, h.URL() + "/#code=" + code
}

// WindowToken makes an operator's session for the window. It is the window's alone and never written down.
func (h *House) WindowToken() string { return h.api.WindowToken() }

// Close lets go of everything that Open took. A House that ran is closed already.
func (h *House) Close() error {
	h.closing.Do(func() {
		var errs []error
		h.die()
		h.children.Wait()
		if h.api != nil {
			h.api.Close()
		}
		if h.summaries != nil {
			h.summaries.Close()
		}
		letGo(h.senses)
		if h.listener != nil {
			if err := h.listener.Close(); !errors.Is(err, net.ErrClosed) {
				errs = append(errs, err)
			}
		}
		if h.store != nil {
			errs = append(errs, h.store.Close())
		}
		if h.claim != nil {
			errs = append(errs, h.claim.Release())
		}
		if h.logFile != nil {
			errs = append(errs, h.logFile.Close())
		}
		h.closeErr = errors.Join(errs...)
	})
	return h.closeErr
}
