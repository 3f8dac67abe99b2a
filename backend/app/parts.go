package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"deskbell/backend/agent"
	"deskbell/backend/agent/declared"
	"deskbell/backend/agent/host"
	"deskbell/backend/agent/runs"
	"deskbell/backend/browser"
	"deskbell/backend/effects"
	"deskbell/backend/gate"
	"deskbell/backend/gate/callers"
	"deskbell/backend/gate/rules"
	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/llm"
	"deskbell/backend/plan"
	"deskbell/backend/platform"
	"deskbell/backend/platform/processes"
	"deskbell/backend/platform/pty"
	"deskbell/backend/plugins"
	"deskbell/backend/procedure"
	"deskbell/backend/queue"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/record"
	"deskbell/backend/record/library"
	"deskbell/backend/record/masking"
	"deskbell/backend/record/replay"
	"deskbell/backend/record/term"
	"deskbell/backend/store/attachments"
	"deskbell/backend/store/backups"
	"deskbell/backend/store/casts"
	"deskbell/backend/store/datadir"
	"deskbell/backend/store/disk"
	"deskbell/backend/store/keychain"
	"deskbell/backend/store/mirror"
	"deskbell/backend/store/phones"
	"deskbell/backend/store/pictures"
	"deskbell/backend/store/receiptkeys"
	"deskbell/backend/store/settings"
	"deskbell/backend/store/settings/gatefile"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/store/views"
	"deskbell/backend/summary"
	"deskbell/backend/transport/api"
	"deskbell/backend/transport/cli"
	"deskbell/backend/transport/mcp"
	"deskbell/backend/workspace"
	"deskbell/summarizers/prompt"
)

// openStore opens the database, and the key that signs receipts.
func (a *App) openStore(ctx context.Context) (err error) {
	if a.receiptKeys, err = receiptkeys.Open(a.Dir, time.Now); err != nil {
		return err
	}
	if err := sqlite.DropStages(a.Dir); err != nil {
		a.log.Warn("what a repair left cannot be removed", "err", err)
	}
	if a.store, err = sqlite.Open(ctx, a.Dir, sqlite.Options{Key: a.receiptKeys.Current, Mirror: mirrorIn(a.Dir), Log: a.log}); err != nil {
		return err
	}
	a.opens(a.store.Close)
	if err := a.store.Mirror(ctx); err != nil {
		return err
	}
	now, _ := a.store.State()
	for _, l := range now.Losses {
		a.log.Error("something that was acknowledged is missing in the database", "what", l.Text)
	}
	return nil
}

// watchStore writes to the log when a fault of the database ends writing, and what was saved.
func (a *App) watchStore(ctx context.Context) error {
	var said *sqlite.Trouble
	for {
		trouble, changed := a.store.Trouble()
		if trouble != said {
			a.log.Error("the database failed", "err", trouble.Err())
			said = trouble
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// mirrorIn writes what hooks have to know while no Deskbell runs into a data folder.
func mirrorIn(dir string) func(sqlite.Mirrored) error {
	return func(m sqlite.Mirrored) error {
		c := mirror.Content{Rules: m.Rules, Keys: m.Keys, Tools: map[string][]string{}}
		for _, t := range m.Tools {
			name := mirror.ToolName(t.Agent, t.Tool)
			c.Tools[name] = append(c.Tools[name], mirror.Hash(t.Definition))
		}
		return mirror.Write(dir, c)
	}
}

// openQueue loads the queue, with the recordings of its operations.
func (a *App) openQueue(ctx context.Context) error {
	o := a.settings.Queue()
	o.Summarize = func(op human.Operation, answer human.Answer) string { return a.summaries.Line(op, answer) }
	o.UndoTime = func() time.Duration { return time.Duration(a.now().Human.UndoSeconds) * time.Second }
	o.Member = func() string { return a.team.credentials.Member }
	o.SecondApproval = a.team.secondApproval
	o.Log = a.log
	o.Receipts = a.receipts()
	a.attachments = attachments.New(a.Dir, attachments.Options{
		Now: time.Now, Quota: func() int64 { return int64(a.now().Limits.AttachmentsMegabytes) * 1e6 },
		Mask: func(text string) (string, int) {
			masked, found := a.masker.Mask(text)
			if !found {
				return text, 0
			}
			return masked, max(1, strings.Count(masked, masking.Hidden)-strings.Count(text, masking.Hidden))
		},
	})
	o.Files = a.attachments
	if a.team.journal != nil {
		o.Fetch, o.Later = a.team.fetch, a.team.later.Keep
	}
	if err := a.openTelemetry(ctx); err != nil {
		return err
	}
	a.queue = queue.New(a.journal(), a.store, o)
	if err := a.queue.Load(ctx); err != nil {
		return err
	}
	a.pictures = pictures.New(a.Dir)
	a.casts = casts.New(a.Dir)
	d := library.Deps{Store: a.store.Recordings(), Pictures: a.pictures, Casts: a.casts, Operations: a.queue, Files: a.queue, Encode: pictures.Encode}
	if a.team.journal != nil {
		d.Elsewhere, d.Asked = a.team.evidence, a.team.recording
	}
	a.library = library.New(d)
	return nil
}

// receipts makes receipts, and seals, with the keys of this data folder.
func (a *App) receipts() *receipt.Maker {
	return &receipt.Maker{Key: a.receiptKeys.Current, Keys: a.receiptKeys.List, Passkey: func(ctx context.Context, by human.Actor, id string) (receipt.KeyEntry, error) {
		return a.stepUp.PublicKey(ctx, by, id)
	}}
}

// openRecorder makes the recorder from what this system has. It records nothing before a caller starts it.
func (a *App) openRecorder() {
	o := a.settings.Recorder()
	a.sources = platform.Sources(platform.Options{Dir: a.Dir, Excluding: len(o.Exclude) > 0})
	a.opens(func() error { platform.Close(a.sources); return nil })
	a.replays = library.NewReplays(a.library, library.Through(func(context.Context) (replay.Player, error) { return platform.Player(a.sources) }, pause))
	if !a.settings.Recording.Enabled {
		return
	}
	d := a.sources
	d.Store, d.Pictures, d.Operations, d.Masker, d.Log = a.store.Recordings(), a.pictures, a.queue, a.masker, a.log
	d.NewID = func() human.RecordingID { return human.RecordingID(newID(human.RecordingPrefix)) }
	web := a.settings.Browser
	d.Browser = func(o human.BrowserOptions, clipboard bool, keep record.SavePicture) record.Browser {
		return browser.New(browser.Options{
			Clock: platform.Now, Path: web.Path, ProfileDir: filepath.Join(a.Dir, "browser"), Exclude: web.Exclude,
			Parameters: web.Parameters, Masker: a.masker, Clipboard: clipboard, RRWeb: browser.RRWeb(a.Console), Log: a.log,
		}, o, keep)
	}
	d.Desk = func(acting record.Acting) (record.Desk, error) { return platform.Desk(a.sources, acting) }
	o.OwnKeys = platform.OwnKeys
	a.recorder = record.New(d, o)
}

// ready says what could be recorded in this session, without an App.
func ready(ctx context.Context, p cli.Place) []human.SourceState {
	path, excluding := "", true
	if p.Config != nil {
		path, excluding = p.Config.Settings().Browser.Path, len(p.Config.Settings().Recorder().Exclude) > 0
	}
	d := platform.Sources(platform.Options{Excluding: excluding})
	defer platform.Close(d)
	d.Pictures = pictures.New("") // which it makes nothing in
	d.Browser = func(o human.BrowserOptions, _ bool, _ record.SavePicture) record.Browser {
		return browser.New(browser.Options{Clock: platform.Now, Path: path}, o, nil)
	}
	return record.New(d, record.Options{}).Ready(ctx)
}

// openSummaries makes what drafts summaries.
func (a *App) openSummaries() {
	a.registry = registry(a.Dir, a.settings, a.masker)
	a.summaries = summary.New(summary.Deps{
		Operations: a.queue, Recordings: a.library, Store: a.store.Summaries(),
		Registry: a.registry.Find, Folder: a.registry.Folder(), Options: func() summary.Options { return a.now().Summaries() },
		Operator: a.operator(), Now: time.Now, Log: a.log,
		NewID: func() human.SummaryID { return human.SummaryID(newID(human.SummaryPrefix)) },
	})
	a.opens(func() error { a.summaries.Close(); return nil })
}

// registry has the summarizers of a data folder.
func registry(dir string, s settings.Settings, masker *masking.Masker) *plugins.Registry {
	var ask func(string) (prompt.Model, error)
	if s.Model.Provider != "none" {
		ask = func(name string) (prompt.Model, error) {
			c := modelOf(s.Model)
			if name != "" {
				c.Model = name
			}
			return llm.New(c)
		}
	}
	return plugins.NewRegistry(filepath.Join(dir, "summarizers"), s.Summarizers.Plugins, ask, masker.Text)
}

// modelOf says how the model of the settings is asked, with its key.
func modelOf(s settings.Model) llm.Config {
	return llm.Config{
		Provider: s.Provider, Model: s.Name, BaseURL: s.BaseURL, AllowHTTP: s.AllowHTTP, Pictures: s.Pictures,
		MaxInput: s.MaxInputTokens, MaxOutput: s.MaxOutputTokens, Key: keychain.Key,
	}
}

// openSocket listens on the data folder's Unix socket, too. Windows has none.
func (a *App) openSocket() {
	if runtime.GOOS == "windows" {
		return
	}
	socket, err := api.ListenSocket(filepath.Join(a.Dir, datadir.Socket))
	if err != nil { // such as a folder with a long path
		a.log.Warn("there is no Unix socket in the data folder; programs use the API's address, and who calls takes longer to find out", "err", err)
		return
	}
	a.socket = socket
	a.opens(func() error {
		if err := socket.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	})
}

// openCallers makes what knows which processes are agents'.
func (a *App) openCallers(ctx context.Context) (err error) {
	file := filepath.Join(a.Dir, datadir.Agents)
	a.callers, err = callers.New(ctx, callers.Deps{
		Processes: processes.System{}, Store: a.store.Attempts(), Self: os.Getpid(), Mask: a.masker.Text, Now: time.Now, Log: a.log, NewID: newID,
		Load: func() ([]byte, error) { return os.ReadFile(file) },
		Save: func(text []byte) error {
			_, err := disk.Replace(file, bytes.NewReader(text), 0o600)
			return err
		},
		Off: !a.settings.Server.CheckCallers,
	})
	return err
}

// reported is the gatekeeper's log, which reports as attempts what a hard limit kept from running that was aimed at Deskbell itself.
type reported struct {
	service.Store
	callers *callers.Service
	dir     string
	decided func(human.Ruling) // may be nil
}

// PutDecision implements service.Store.
func (r reported) PutDecision(ctx context.Context, d service.Decision, made []string) error {
	if d.HardLimit && d.Decision != human.Allow && (strings.Contains(strings.ToLower(d.Call), "deskbell") || strings.Contains(d.Call, r.dir)) {
		r.callers.Attempted(ctx, d.Agent, human.Try{What: human.TryCommand, Limit: d.Rule, Detail: d.Call, OperationID: d.OperationID})
	}
	err := r.Store.PutDecision(ctx, d, made)
	if err == nil && r.decided != nil {
		r.decided(d.Decision)
	}
	return err
}

// openGate makes the gatekeeper.
func (a *App) openGate(ctx context.Context) (err error) {
	sessions := &workspace.Sessions{}
	file := gatefile.Open(filepath.Join(a.Dir, gatefile.Name))
	a.policy = func() gate.Policy { return file.Read().Config.Policy }
	a.backups = backups.New(a.Dir, time.Now, a.masker.Text, tree)
	d := service.Deps{
		Queue: a.queue, Store: reported{a.store.Gate(), a.callers, a.Dir, a.decided()}, Files: a.backups, Operator: a.operator(), Mask: a.masker.Within, Guard: a.Dir, Now: time.Now, Log: a.log,
		File: func() service.File {
			now := file.Read()
			return service.File{Path: file.Path(), Rules: now.Rules, Config: now.Config, Problem: now.Problem}
		},
		Project:   func(_ service.File, root string) *rules.Set { return file.With(root) },
		SetPolicy: file.SetPolicy,
		Root:      workspace.Root,
		Facts: func(ctx context.Context, call gate.Call, made func(string) bool) service.Facts {
			return workspace.New(ctx, call, made).In(sessions)
		},
		Client: clientOf, Alive: alive, Boxes: boxes(a.Dir),
		ProjectFile: filepath.FromSlash(gatefile.ProjectName), NewID: newID,
	}
	if a.settings.Model.Provider != "none" {
		if m, err := a.registry.Model(""); err == nil {
			d.Model = opinion{m}
		} else {
			a.log.Warn("the gatekeeper has no model", "err", err)
		}
	}
	a.gate, err = service.New(ctx, d)
	return err
}

// tree is the working tree that a folder is in, for copies of it.
func tree(dir string) (backups.Tree, error) {
	repo, err := workspace.Open(dir)
	if err != nil {
		return nil, err // not a nil *workspace.Repo, which would be no nil backups.Tree
	}
	return repo, nil
}

// opinion is the model of the settings, as the gatekeeper asks it.
type opinion struct{ prompt.Model }

func (o opinion) Name() string { return o.About().Name }

func (o opinion) Ask(ctx context.Context, system, user string, schema json.RawMessage) (string, error) {
	reply, err := o.Model.Ask(ctx, prompt.Request{System: system, Text: user, Schema: schema, Tokens: 1000}, func(string) {})
	return string(reply.JSON), err
}

// openTerminals makes what operators run commands in. Where recording is switched off, their terminals are not recorded, either.
func (a *App) openTerminals() {
	d := term.Deps{
		Operations: a.queue, Masker: a.masker, Clock: platform.Now, Open: pty.Open, Shells: pty.Shells, Environ: os.Environ, System: runtime.GOOS, Log: a.log,
		NewID: func() human.RecordingID { return human.RecordingID(newID(human.RecordingPrefix)) },
		Judge: func(ctx context.Context, by human.Actor, command, folder string) (human.Verdict, error) {
			args, err := json.Marshal(map[string]string{"command": command})
			if err != nil {
				return human.Verdict{}, err
			}
			trial, err := a.gate.Try(ctx, by, human.ToolCall{Tool: "Bash", Args: args, Cwd: folder}, "")
			return trial.Verdict, err
		},
	}
	if a.settings.Recording.Enabled {
		d.Store, d.Casts = a.store.Recordings(), a.casts
	}
	drafts := a.summaries.Recording(context.Background())
	d.Changed = func(r human.Recording) { drafts(r) }
	a.terminals = term.New(d, func() term.Options { return term.Options{Shell: a.now().Terminal.Shell} })
}

// openPlans makes what has plans confirmed.
func (a *App) openPlans() {
	a.plans = plan.New(plan.Deps{
		Queue: a.queue, Store: a.store.Plans(), Judge: a.gate.Foresee, Try: plugins.Try, Mask: a.masker.Text, Now: time.Now, Log: a.log, NewID: newID,
		Options: func() plan.Options { return a.now().Plans() },
	})
}

// openProcedures makes what keeps and runs procedures.
func (a *App) openProcedures(ctx context.Context) error {
	d := procedure.Deps{
		Store: a.store.Procedures(), Queue: a.queue, Recordings: a.library, Effects: effects.Looker{}, Wait: pause, Now: time.Now, Log: a.log,
		Profile: func() string { return a.now().Browser.Profile },
		Secret: func(name string) (string, error) {
			text, _, err := keychain.Get(context.Background(), keychain.Account{Typed: name})
			return text, err
		},
	}
	if a.recorder != nil {
		d.Recorder = a.recorder
	}
	a.procedures = procedure.New(d)
	a.opens(func() error { a.procedures.Close(); return nil })
	return a.procedures.Recover(ctx)
}

// openHost makes what runs agents. Their processes are this program's, on the same data folder and settings.
func (a *App) openHost() error {
	self, err := os.Executable()
	if err != nil {
		return human.Wrap(human.Internal, err, "Deskbell cannot find its own program")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		a.log.Warn("no home folder is known; agents need a folder", "err", err)
	}
	program := []string{self, "--data", a.Dir}
	if file := a.Config.Config.File(); file != filepath.Join(a.Dir, "config.toml") {
		program = append(program, "--config", file)
	}
	a.host = host.New(host.Deps{
		Program: program, Folder: home, Runs: journals(a.Dir), NewID: newID, Log: a.log,
		Agents: func() ([]agent.Profile, error) { return declared.Read(a.Dir) }, Started: a.callers.Started,
	})
	a.opens(a.host.Close)
	return nil
}

// openAPI connects the transports to all parts.
func (a *App) openAPI() (err error) {
	if err := a.openHost(); err != nil {
		return err
	}
	tool := mcp.HTTPHandler(api.ActorOf,
		func(by human.Actor) mcp.Ringer { return mcp.ForQueue(a.queue, a.library, by) },
		mcp.Options{Version: a.Version, Log: a.log, Gate: a.gate, Plans: a.plans, Procedures: a.procedures, Agents: messenger{a.host}, Knowledge: a.settings.Sinks.Knowledge})
	a.samples = cli.NewSamples(a.store, a.Dir, a.log)
	a.opens(func() error { a.samples.Close(); return nil })
	a.clients = newClients(a.Dir, func(context.Context) (cli.Keys, error) { return kept{a.store}, nil },
		func(ctx context.Context, name string) (string, error) { return a.store.AddKey(ctx, name, false) }, a.log)
	a.opens(func() error { a.clients.Close(); return nil })
	audit := func(ctx context.Context) (receipt.Audit, error) {
		audit, err := a.queue.Audit(ctx, a.operator(), receipt.TrustIn(a.receiptKeys.List()))
		if err == nil {
			found := make([]human.Sentence, len(audit.Found))
			for i, f := range audit.Found {
				found[i] = f.Sentence
			}
			a.store.Audited(found)
		}
		return audit, err
	}
	a.audits = &receipt.Watch{Audit: audit, Now: time.Now, Log: a.log}
	d := api.Deps{
		Library: a.library, Replay: a.replays, Summaries: a.summaries, Gate: a.gate, Backups: a.backups, Plans: a.plans, Procedures: a.procedures, StepUp: a.stepUp, Outbox: a.outbox, Retention: a.retention, Archives: a.archivesIn, Views: views.New(a.Dir, newID),
		Callers: a.callers, Clients: a.clients, Changes: workspace.Changes{}, Host: a.host, Queue: a.queue, Keys: a.store, Search: a.store, Settings: a.Config.Config, ReceiptKeys: a.receiptKeys, Journal: a.audits, Data: a.store, Team: a.team,
		Doctor: func(ctx context.Context) ([]human.DoctorCheck, error) {
			p := Program(a.Version, a.Built, nil)
			p.Audit = func(ctx context.Context, _ string) (receipt.Audit, error) { return audit(ctx) } // of the journal that is open: it knows its end
			p.Team = func(context.Context, string) (human.DeskState, error) {
				now, _ := a.team.State()
				return now, nil
			}
			return human.Lines(cli.Examine(ctx, p, cli.Place{Dir: a.Dir, Config: a.Config.Config})), nil
		},
		Sample:  func(ctx context.Context) error { return a.samples.Start(ctx, a.URL(), a.now().UI.Language) },
		Console: a.Console, MCP: tool, EndWaits: tool.EndWaits, Operator: a.settings.Operator.Name, InApp: a.InApp,
		Terminal: a.terminal,
		Phones: &api.Phones{
			Store: phones.New(a.Dir, time.Now),
			Door:  func() (bool, string) { now := a.now().Phone; return now.Enabled, now.Addr },
			Set: func(open bool) error {
				_, err := a.Config.Config.Update(map[string]json.RawMessage{"phone.enabled": json.RawMessage(strconv.FormatBool(open))})
				return err
			},
		},
		Hosts: a.settings.Server.AllowHosts, MaxBody: a.settings.MaxBody(), Version: a.Version, Log: a.log,
	}
	d.Ready, d.Metrics = a.storable, a.scraped()
	d.Capturer = captures{platform.Capturer()}
	d.Terminals = a.terminals
	if a.recorder != nil {
		d.Recorder = withDefaults{a.recorder, a}
	}
	if a.api, err = api.New(d); err != nil {
		return err
	}
	a.opens(func() error { a.api.Close(); return nil })
	return nil
}

// captures are pictures of the desktop as the API gives them out.
type captures struct{ *record.Capturer }

func (c captures) Capture(ctx context.Context, r record.CaptureRequest) ([]byte, error) {
	f, err := c.Capturer.Capture(ctx, r)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := pictures.Encode(&b, f, "png", 0); err != nil {
		return nil, human.Wrap(human.Internal, err, "the picture cannot be written")
	}
	return b.Bytes(), nil
}

// withDefaults is the recorder as the API sees it: what a request leaves open is as in the settings.
type withDefaults struct {
	*record.Recorder
	app *App
}

func (r withDefaults) Start(ctx context.Context, by human.Actor, op human.OperationID, o human.RecordingOptions) (human.Recording, error) {
	return r.Recorder.Start(ctx, by, op, r.app.now().Record(o))
}

// journals are those of the reference agent's runs on a data folder.
func journals(dir string) *runs.Store { return runs.New(filepath.Join(dir, "agents")) }

// kept are the keys of a store that stays open.
type kept struct{ *sqlite.Store }

// Close does nothing.
func (kept) Close() error { return nil }
