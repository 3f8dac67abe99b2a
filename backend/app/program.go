package app

import (
	"context"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/pkg/browser"

	"deskbell/backend/agent"
	"deskbell/backend/agent/declared"
	"deskbell/backend/app/hubprogram"
	"deskbell/backend/gate"
	"deskbell/backend/human"
	"deskbell/backend/llm"
	"deskbell/backend/platform"
	"deskbell/backend/platform/processes"
	"deskbell/backend/platform/sealed"
	"deskbell/backend/platform/window"
	"deskbell/backend/record/masking"
	"deskbell/backend/store/backups"
	"deskbell/backend/store/keychain"
	"deskbell/backend/store/receiptkeys"
	"deskbell/backend/store/settings/gatefile"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/store/team/hub"
	"deskbell/backend/transport/api"
	"deskbell/backend/transport/cli"
	"deskbell/backend/transport/mcp"
	"deskbell/backend/workspace"
)

// Program is the command line of Deskbell, without the window. built is as in cli.Program.
func Program(version, built string, console fs.FS) cli.Program {
	return cli.Program{
		Version: version,
		Built:   built,
		Open: func(ctx context.Context, p cli.Place) (cli.Server, error) {
			if err := sealed.Seal(); err != nil {
				return nil, human.Wrap(human.Unavailable, err, "this process cannot be kept from others: %v", err)
			}
			a, err := Open(ctx, Config{Dir: p.Dir, Config: p.Config, Version: version, Built: built, Console: console, Errors: p.Errors})
			if err != nil {
				return nil, err // not a nil *App, which would be no nil cli.Server
			}
			return a, nil
		},
		Keys:     keysIn,
		Backups:  func(dir string) cli.Backups { return backups.New(dir, time.Now, nil, nil) },
		Archives: archivesAway(version),
		ServeMCP: func(ctx context.Context, s cli.MCP, in io.Reader, out io.Writer) error {
			return mcp.ServeRemote(ctx, s.Find, s.Key, in, out, mcp.Options{Version: version, Permission: s.Permission, Patience: s.Patience, Knowledge: s.Knowledge})
		},
		MCPProxy:    serveProxy,
		Sessions:    terminalSessions{},
		OpenAPI:     func() ([]byte, error) { return api.OpenAPI(version) },
		Database:    inspected,
		Repair:      repair(version),
		ReadLosses:  readLosses(version),
		Audit:       audited,
		Team:        joinedTeam,
		Newest:      newest(version),
		Update:      updateCheck(version),
		ReceiptKeys: receiptkeys.Public,
		Sources:     ready,
		Model:       model,
		Webhook:     webhook,
		Typed:       func(name string) cli.Key { return keychain.Account{Typed: name} },
		Summaries: func(p cli.Place) []human.Diagnosis {
			return registry(p.Dir, p.Config.Settings(), masking.New()).Checks()
		},
		Hooks: hooks(),
		Connecting: func(dir string, admit cli.Admit) cli.Connecting {
			return newClients(dir, func(ctx context.Context) (cli.Keys, error) { return keysIn(ctx, dir) }, admit, slog.New(slog.DiscardHandler))
		},
		Service:   newService,
		Processes: processes.Running,
		Agent: cli.Agent{
			Run:  runAgent(version),
			Chat: chatWithAgent(version), Agents: declared.ReadFile,
			List: func(ctx context.Context, dir string, most int) ([]agent.RunView, error) {
				return journals(dir).List(ctx, agent.RunPrefix, most)
			},
		},
		Hub: hubprogram.Hub(),
		Gate: cli.Gate{
			Load: gatefile.Load, Project: gatefile.Project, Root: workspace.Root,
			Evidence: func(ctx context.Context, call gate.Call) gate.Evidence { return workspace.New(ctx, call, nil) },
		},
		About: About(version, built), Mask: masking.New().Text,
		Browse: browse, QuietEnd: window.QuietEnd, Autostart: platform.Autostart{},
		Notifications: func(ctx context.Context) cli.Notifications {
			s := window.FindNotificationService(ctx)
			return cli.Notifications{Shown: s.Answers, Name: s.Name, Buttons: s.Actions}
		},
	}
}

// joinedTeam is the team whose credentials are in a data folder.
func joinedTeam(_ context.Context, dir string) (human.DeskState, error) {
	c, err := hub.Load(dir)
	if human.KindOf(err) == human.NotFound {
		err = nil
	}
	return human.DeskState{Team: c.Team, Member: c.Member}, err
}

// keysIn opens the keys of agents in a data folder.
func keysIn(ctx context.Context, dir string) (cli.Keys, error) {
	store, err := sqlite.Open(ctx, dir, sqlite.Options{Mirror: mirrorIn(dir)})
	if err != nil {
		return nil, err // not a nil *sqlite.Store, which would be no nil cli.Keys
	}
	return store, nil
}

// model is the model of the settings, for the command line.
func model(p cli.Place) (cli.Model, error) {
	s := p.Config.Settings().Model
	if s.Provider == "none" {
		return cli.Model{}, human.Errorf(human.Unavailable, "there is no model; set model.provider and model.name, for instance in %s", p.Config.File())
	}
	m, err := llm.New(modelOf(s))
	if err != nil {
		return cli.Model{}, err
	}
	about := m.About()
	return cli.Model{Name: about.Name, Host: about.Host, Key: keychain.Account{Host: about.Host}}, nil
}

// browse opens an address in the user's browser. Some ways to do it end only with the browser: after a few seconds it counts as opened.
func browse(url string) error {
	browser.Stdout = os.Stderr
	opened := make(chan error, 1)
	go func() { opened <- browser.OpenURL(url) }()
	select {
	case err := <-opened:
		return err
	case <-time.After(5 * time.Second):
		return nil
	}
}
