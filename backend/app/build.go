package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/human"
	"deskbell/backend/platform/window"
	"deskbell/backend/record/library"
	"deskbell/backend/store/backups"
	"deskbell/backend/store/pictures"
	"deskbell/backend/store/settings/gatefile"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/transport/api"
	"deskbell/backend/transport/cli"
	"deskbell/backend/transport/mcp"
	"deskbell/backend/workspace"
)

// build puts the faces on the queue.
func (h *House) build(ctx context.Context) error {
	s := h.settings
	books := library.New(library.Deps{Store: h.store.Recordings(), Pictures: h.pictures, Operations: h.queue, Encode: pictures.Encode})
	shelf := newShelf(h.config.Dir, s)
	h.openSummaries(books, shelf)
	if err := h.openGate(ctx, shelf); err != nil {
		return err
	}
	h.openPlans()
	tool := mcp.HTTPHandler(api.ActorOf,
		func(by human.Actor) mcp.Ringer { return mcp.ForQueue(h.queue, books, by) },
		mcp.Options{Version: h.config.Version, Log: h.log, Gate: h.gate, Plans: h.plans})
	h.replays = library.NewReplays(books, library.Through(h.player, pause))
	var recorder api.Recorder
	if h.recorder != nil {
		recorder = withDefaults{h.recorder, h}
	}
	var err error
	h.api, err = api.New(api.Deps{
		Recorder:  recorder,
		Library:   books,
		Replay:    h.replays,
		Summaries: h.summaries,
		Gate:      h.gate,
		Backups:   h.backups,
		Plans:     h.plans,
		Runs:      agentRuns{journals(h.config.Dir)},
		Queue:     h.queue,
		Keys:      h.store,
		Settings:  h.config.Config,
		Doctor:    h.doctor,
		Sample:    h.sample,
		Console:   h.config.Console,
		MCP:       tool,
		EndWaits:  tool.EndWaits,
		Operator:  s.Operator.Name,
		InApp:     h.config.InApp,
		Hosts:     s.Server.AllowHosts,
		MaxBody:   bodyLimit(s.Limits.MaxDescription, s.Limits.MaxDetails, s.Limits.MaxContext),
		Version:   h.config.Version,
		Log:       h.log,
	})
	return err
}

// bodyLimit is the largest request, in bytes, whose parts are within their limits: escaped in JSON, a byte
// of text takes six.
func bodyLimit(description, details, about int) int64 {
	return max(4<<20, int64(6*description+details+about+64<<10))
}

// doctor is the command of that name, for the settings page.
func (h *House) doctor(ctx context.Context) ([]api.Check, error) {
	var checks []api.Check
	for _, c := range cli.Examine(ctx, Program(h.config.Version, nil), cli.Place{Dir: h.config.Dir, Config: h.config.Config}) {
		checks = append(checks, api.Check{Name: c.Name, Status: c.Status, Detail: c.Detail, Fix: c.Fix})
	}
	return checks, nil
}

// sample starts the sample agent, a process of our own program that knows nothing but a URL and a key.
func (h *House) sample(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return human.Wrap(human.Internal, err, "Deskbell cannot find its own program to start the sample agent")
	}
	key, err := h.store.AddKey(ctx, cli.SampleAgent, true)
	if err != nil {
		return err
	}
	language := h.config.Config.Settings().UI.Language
	cmd := exec.CommandContext(h.life, self, cli.SampleAgent, "--url", h.URL(), "--language", language)
	cmd.Env = append(os.Environ(), "DESKBELL_KEY="+key, "DESKBELL_DATA="+h.config.Dir)
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return errors.Join(human.Wrap(human.Internal, err, "the sample agent could not be started"), h.store.DropKey(ctx, key))
	}
	h.log.Info("sample agent started", "pid", cmd.Process.Pid)
	h.children.Go(func() {
		err := cmd.Wait()
		h.log.Info("sample agent ended", "pid", cmd.Process.Pid, "err", err)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
		defer cancel()
		if err := h.store.DropKey(last, key); err != nil {
			h.log.Warn("the sample agent's key could not be dropped", "err", err)
		}
	})
	return nil
}

// Program is the command line of Deskbell, without the window.
func Program(version string, console fs.FS) cli.Program {
	return cli.Program{
		Version: version,
		Open: func(ctx context.Context, p cli.Place) (cli.Server, error) {
			h, err := Open(ctx, Config{Dir: p.Dir, Config: p.Config, Version: version, Console: console})
			if err != nil {
				return nil, err
			}
			return h, nil
		},
		Keys: func(ctx context.Context, dir string) (cli.Keys, error) {
			store, err := sqlite.Open(ctx, dir, sqlite.Options{})
			if err != nil {
				return nil, err
			}
			return keys{store}, nil
		},
		Backups:  func(dir string) cli.Backups { return backups.New(dir, time.Now, nil, nil) },
		ServeMCP: serveMCP(version),
		MCPProxy: serveProxy,
		OpenAPI:  func() ([]byte, error) { return api.OpenAPI(version) },
		Database: func(ctx context.Context, dir string) error {
			store, err := sqlite.Open(ctx, dir, sqlite.Options{})
			if err != nil {
				return err
			}
			return store.Close()
		},
		Sources:   sources,
		ModelKey:  modelAccount,
		Summaries: examineSummaries,
		Hooks:     hooks(),
		Agent:     agentProgram(version),
		Gate: cli.Gate{
			Load: gatefile.Load, Project: gatefile.Project, Root: workspace.Root,
			Evidence: func(ctx context.Context, call gate.Call) gate.Evidence { return workspace.New(ctx, call, nil) },
		},
		Notifications: func(ctx context.Context) cli.Notifications {
			s := window.FindNotificationService(ctx)
			return cli.Notifications{Shown: s.Answers, Name: s.Name, Buttons: s.Actions}
		},
	}
}

// keys are a store's, in the words of the command line.
type keys struct{ *sqlite.Store }

func (k keys) Keys(ctx context.Context) ([]cli.Key, error) {
	all, err := k.Store.Keys(ctx)
	out := make([]cli.Key, len(all))
	for i, key := range all {
		out[i] = cli.Key(key)
	}
	return out, err
}
