package term

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"deskbell/backend/human"
	"deskbell/backend/kind"
	"deskbell/backend/record"
)

// A Service has the terminals of operations, one each. Its methods are safe for concurrent use.
type Service struct {
	deps    Deps
	options func() Options
	serving chan struct{}

	mu       sync.Mutex
	stopped  bool
	trouble  error
	sessions map[human.OperationID]*session // also the last that ended
	starting sync.WaitGroup
	judged   map[human.OperationID]judged
}

// Options are the operator's settings.
type Options struct {
	Shell string // name or path; empty: the operator's own
}

type judged struct {
	version     uint64
	folder      string
	suggestions []Suggestion
}

// New makes a service. options are asked at each start. Nothing happens before Run.
func New(deps Deps, options func() Options) *Service {
	if deps.Log == nil {
		deps.Log = slog.Default()
	}
	return &Service{deps: deps, options: options, serving: make(chan struct{}), sessions: map[human.OperationID]*session{}, judged: map[human.OperationID]judged{}}
}

// Run first marks recordings that a crash left running as interrupted, then serves until ctx ends, and ends every shell. It is
// called once.
func (s *Service) Run(ctx context.Context) error {
	err := s.lookAfterCrash(ctx)
	if ctx.Err() != nil {
		err = nil
	}
	s.mu.Lock()
	s.trouble = err
	s.mu.Unlock()
	close(s.serving)
	<-ctx.Done()
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.starting.Wait()
	var all sync.WaitGroup
	for _, x := range s.all() {
		all.Go(func() { x.stop("shutdown") })
	}
	all.Wait()
	return err
}

func (s *Service) all() (all []*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.sessions {
		all = append(all, x)
	}
	return all
}

// lookAfterCrash ends recordings whose process has died.
func (s *Service) lookAfterCrash(ctx context.Context) error {
	if s.deps.Store == nil {
		return nil
	}
	running, err := s.deps.Store.Running(ctx)
	if err != nil {
		return err
	}
	for _, rec := range running {
		if rec.Options.Terminal == nil {
			continue
		}
		if err := s.deps.Casts.Repair(rec.ID, []byte("[0.000000, \"m\", \"interrupted\"]\n")); err != nil {
			s.deps.Log.Warn("the file of an interrupted terminal recording cannot be repaired", "recording", rec.ID, "err", err)
		}
		if err := record.Interrupt(ctx, s.deps.Store, rec); err != nil {
			return err
		}
		s.deps.Log.Warn("a terminal's recording was interrupted; it is kept up to its last moment", "recording", rec.ID)
	}
	return nil
}

// claimed is an operation that by may have a terminal for.
func (s *Service) claimed(ctx context.Context, by human.Actor, id human.OperationID) (human.Operation, error) {
	if by.Role != human.Operator {
		return human.Operation{}, human.Errorf(human.Denied, "only an operator may use a terminal of this machine")
	}
	op, err := s.deps.Operations.Get(ctx, by, id)
	switch {
	case err != nil:
		return op, err
	case op.Kind != human.Bash:
		return op, human.Errorf(human.Conflict, "operation %s is of kind %s; only those of kind bash have a terminal", id, op.Kind)
	case op.State.Terminal():
		return op, human.Errorf(human.Conflict, "operation %s has ended, and its terminal with it", id)
	case op.ClaimedBy != by.Name:
		return op, human.Errorf(human.Conflict, "operation %s is not claimed by you; claim it first, then start its terminal", id)
	}
	return op, nil
}

// Start starts the terminal of an operation that by has claimed, and its recording. Conflict where it runs already, or the
// operation is not claimed; Invalid, with the field, for a folder or shell that cannot be used.
func (s *Service) Start(ctx context.Context, by human.Actor, id human.OperationID, r Request) (State, error) {
	op, err := s.claimed(ctx, by, id)
	if err != nil {
		return State{}, err
	}
	if r.Cols < 2 || r.Rows < 1 || r.Cols > 1000 || r.Rows > 1000 {
		return State{}, human.BadField("cols", "and rows are %d and %d; a terminal has 2 to 1000 columns and 1 to 1000 rows", r.Cols, r.Rows)
	}
	folder, err := folderOf(op)
	if err != nil {
		return State{}, err
	}
	shell, err := s.shell(r.Shell)
	if err != nil {
		return State{}, err
	}
	select {
	case <-s.serving:
	case <-ctx.Done():
		return State{}, human.Wrap(human.Unavailable, ctx.Err(), "terminals are not ready yet; try again")
	}
	x, err := s.reserve(op, by, shell, folder)
	if err != nil {
		return State{}, err
	}
	defer s.starting.Done()
	if err := x.open(context.WithoutCancel(ctx), r); err != nil {
		s.mu.Lock()
		delete(s.sessions, id)
		s.mu.Unlock()
		return State{}, err
	}
	// It may have been released or ended meanwhile, before there was anything to stop.
	if _, err := s.claimed(ctx, by, id); err != nil {
		x.stop("operation_ended")
		return State{}, err
	}
	return s.State(ctx, by, id)
}

// reserve makes the session of an operation, unless it has one that runs.
func (s *Service) reserve(op human.Operation, by human.Actor, shell Shell, folder string) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, human.Errorf(human.Unavailable, "Deskbell is shutting down; no terminal is started")
	}
	if x := s.sessions[op.ID]; x != nil {
		select {
		case <-x.ended:
		default:
			return nil, human.Errorf(human.Conflict, "the terminal of operation %s runs already; connect to it, or end it first", op.ID)
		}
	}
	wall, mono := s.deps.Clock()
	var nonce [16]byte
	rand.Read(nonce[:])
	x := &session{Service: s, op: op, by: by, shell: shell, nonce: hex.EncodeToString(nonce[:]), folder: folder, ended: make(chan struct{}), start: wall, mono: mono, echoOn: true}
	s.sessions[op.ID] = x
	s.starting.Add(1)
	return x, nil
}

// open starts the shell.
func (s *session) open(ctx context.Context, r Request) (err error) {
	defer func() {
		if err != nil {
			close(s.ended)
		}
	}()
	program, scrap, err := integrate(s.shell, s.nonce, s.deps.Environ())
	if err != nil {
		return human.Wrap(human.Unavailable, err, "the shell's files cannot be written; check the space and permissions of the folder for temporary files")
	}
	s.scrap = scrap
	program.Dir, program.Cols, program.Rows = s.folder, r.Cols, r.Rows
	rec, file, err := s.begin(ctx, r)
	if err == nil {
		if s.pty, err = s.deps.Open(program); err != nil {
			err = human.Wrap(human.Unavailable, err, "%s cannot be started: %v; choose another shell in the setting recording.terminal.shell", s.shell.Path, err)
			s.drop(ctx, rec, file)
		}
	}
	if err != nil {
		s.sweep()
		return err
	}
	s.mu.Lock()
	s.log = newLogbook(s.deps, rec, file, s.nonce, r.Cols, r.Rows, s.noted)
	s.running = true
	s.mu.Unlock()
	go s.run()
	return nil
}

// begin makes the recording; none where it is not wanted.
func (s *session) begin(ctx context.Context, r Request) (rec human.Recording, file record.CastFile, err error) {
	if r.Record != nil && !*r.Record || s.deps.Store == nil {
		return human.Recording{StartedAt: s.start}, nil, nil
	}
	if s.trouble != nil {
		return rec, nil, human.Wrap(human.Unavailable, s.trouble, "nothing can be recorded, because earlier recordings cannot be read; start the terminal without recording, or restart Deskbell")
	}
	rec = header(s.deps.NewID(), s.op.ID, s.by.Name, s.deps.System, s.start, human.TerminalOptions{Shell: s.shell.Name, Folder: s.folder, Suggested: len(kind.Commands(s.op))})
	if err := s.deps.Store.Create(ctx, rec); err != nil {
		return rec, nil, err
	}
	if file, err = s.deps.Casts.Create(rec.ID); err == nil {
		_, err = s.deps.Operations.RecordingBegan(ctx, s.by, s.op.ID, rec.ID)
	}
	if err != nil {
		s.drop(ctx, rec, file)
	} else if s.deps.Changed != nil {
		s.deps.Changed(rec)
	}
	return rec, file, err
}

// drop removes a recording that did not come about.
func (s *session) drop(ctx context.Context, rec human.Recording, file record.CastFile) {
	if rec.ID == "" {
		return
	}
	var err error
	if file != nil {
		err = file.Close()
	}
	err = errors.Join(err, s.deps.Casts.Delete(rec.ID), s.deps.Store.Delete(ctx, rec.ID))
	if dropped := s.deps.Operations.RecordingDropped(ctx, s.by, s.op.ID, rec.ID); human.KindOf(dropped) != human.NotFound {
		err = errors.Join(err, dropped)
	}
	if err != nil {
		s.deps.Log.Error("a recording that did not begin could not be removed", "recording", rec.ID, "err", err)
	}
}

func (s *Service) remove(dir string) {
	if err := os.RemoveAll(dir); err != nil {
		s.deps.Log.Warn("a shell's files could not be removed", "folder", dir, "err", err)
	}
}

// find is the session of an operation; nil without one.
func (s *Service) find(id human.OperationID) *session {
	s.mu.Lock()
	x := s.sessions[id]
	s.mu.Unlock()
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.log == nil { // it is being started
		return nil
	}
	return x
}

// State says how the terminal of an operation stands that by has claimed.
func (s *Service) State(ctx context.Context, by human.Actor, id human.OperationID) (State, error) {
	op, err := s.claimed(ctx, by, id)
	if err != nil {
		return State{}, err
	}
	folder, problem := folderOf(op)
	st := State{Folder: folder, Commands: []Command{}}
	if x := s.find(id); x != nil && x.by == by {
		st = x.state()
		st.Commands = append([]Command{}, st.Commands...)
		problem = nil
	}
	for _, shell := range s.deps.Shells() {
		st.Shells = append(st.Shells, shell.Name)
	}
	if problem == nil && len(st.Shells) == 0 {
		problem = human.Errorf(human.Unavailable, "no shell was found; install bash or zsh, or name a shell in the setting recording.terminal.shell")
	}
	st.Shells = append([]string{}, st.Shells...)
	var said *human.Error
	if st.Problem == nil && errors.As(problem, &said) {
		st.Problem = &said.Said
	}
	st.Suggestions = s.suggestions(ctx, by, op, folder)
	return st, nil
}

// suggestions are the commands of an operation with what the gatekeeper thinks of each.
func (s *Service) suggestions(ctx context.Context, by human.Actor, op human.Operation, folder string) []Suggestion {
	s.mu.Lock()
	known, is := s.judged[op.ID]
	s.mu.Unlock()
	if is && known.version == op.Version && known.folder == folder {
		return known.suggestions
	}
	all := []Suggestion{}
	for _, text := range kind.Commands(op) {
		one := Suggestion{Text: text, Decision: "ask", Risk: human.HighRisk, Reasons: []human.Sentence{}}
		v, err := s.deps.Judge(ctx, by, text, folder)
		if err != nil {
			one.Problem = human.SafeText(err)
		} else {
			one.Decision, one.Risk = string(v.Decision), v.Risk
			if v.Decision == human.Deny {
				one.Decision = "block"
			}
			one.Reasons = append(one.Reasons, v.Said...)
		}
		all = append(all, one)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.judged) > 100 {
		clear(s.judged)
	}
	s.judged[op.ID] = judged{op.Version, folder, all}
	return all
}

// Stop ends the terminal of an operation, and returns once its shell is gone and the recording is stored. One that has ended
// is no error; NotFound where there was none.
func (s *Service) Stop(ctx context.Context, by human.Actor, id human.OperationID) (State, error) {
	if _, err := s.claimed(ctx, by, id); err != nil {
		return State{}, err
	}
	x := s.find(id)
	if x == nil || x.by != by {
		return State{}, human.Errorf(human.NotFound, "operation %s has no terminal; start it first", id)
	}
	x.stop("operator")
	return s.State(ctx, by, id)
}

// Connect takes hold of the terminal of an operation: its last output comes first. A page that was connected is disconnected.
func (s *Service) Connect(ctx context.Context, by human.Actor, id human.OperationID) (*Connection, error) {
	if _, err := s.claimed(ctx, by, id); err != nil {
		return nil, err
	}
	x := s.find(id)
	if x == nil || x.by != by {
		return nil, human.Errorf(human.NotFound, "operation %s has no terminal; start it first", id)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.running {
		return nil, human.Errorf(human.Conflict, "the terminal of operation %s has ended; start it again", id)
	}
	c := &Connection{session: x}
	c.changed = sync.NewCond(&c.mu)
	if x.client != nil {
		x.client.end()
	}
	x.client = c
	if shot := snapshot(x.live); len(shot) > 0 {
		c.output(shot)
	}
	on := x.echoOn
	c.tell(Event{Type: "echo", On: &on})
	return c, nil
}

// snapshot is the last output from the beginning of a line on.
func snapshot(live []byte) []byte {
	if len(live) <= maxSnapshot {
		return live
	}
	live = live[len(live)-maxSnapshot:]
	if i := slices.Index(live, '\n'); i >= 0 {
		live = live[i+1:]
	}
	return live
}

// EndWith ends the terminal of each operation that is released or ends, as entries tell, until these end.
func (s *Service) EndWith(_ context.Context, entries iter.Seq2[human.Entry, error]) error {
	var ending sync.WaitGroup
	defer ending.Wait()
	for e, err := range entries {
		if err != nil {
			return err
		}
		switch e.Event.Type {
		case human.Finished, human.Withdrawn, human.TurnedDown, human.Released:
			if x := s.find(e.ID); x != nil {
				ending.Go(func() { s.over(x) })
			}
		}
	}
	return nil
}

// over ends a terminal for good.
func (s *Service) over(x *session) {
	x.stop("operation_ended")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[x.op.ID] == x {
		delete(s.sessions, x.op.ID)
	}
	delete(s.judged, x.op.ID)
}

// folderOf is where the terminal of an operation starts: the request's folder, else the operator's own.
func folderOf(op human.Operation) (string, error) {
	var folder string
	if raw := kind.Value(op, "folder"); raw != nil && json.Unmarshal(raw, &folder) != nil {
		return "", human.Errorf(human.Conflict, "the request's folder is no text; ask the agent for it, or use your own terminal")
	}
	if folder == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", human.Wrap(human.Unavailable, err, "your home folder is not known, and the request names no folder")
		}
		return home, nil
	}
	if home, err := os.UserHomeDir(); err == nil && (folder == "~" || strings.HasPrefix(folder, "~/")) {
		folder = filepath.Join(home, folder[1:])
	}
	if !filepath.IsAbs(folder) {
		return folder, human.Errorf(human.Conflict, "the request's folder is %q, which is not an absolute path; ask the agent for it, or use your own terminal", human.OneLine(folder, 200))
	}
	folder = filepath.Clean(folder)
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return folder, human.Errorf(human.Conflict, "there is no folder %q on this machine; create it, ask the agent for another, or use your own terminal", human.OneLine(folder, 200))
	case err != nil:
		return folder, human.Wrap(human.Conflict, err, "the folder %q cannot be opened; check its permissions", human.OneLine(folder, 200))
	case !info.IsDir():
		return folder, human.Errorf(human.Conflict, "%q is a file and no folder; ask the agent for the folder", human.OneLine(folder, 200))
	}
	return folder, nil
}

// shell is the one asked for, or of the settings, or the first there is.
func (s *Service) shell(asked string) (Shell, error) {
	all := s.deps.Shells()
	name, from := asked, "shell"
	if name == "" {
		name, from = s.options().Shell, "recording.terminal.shell"
	}
	if name == "" {
		if len(all) == 0 {
			return Shell{}, human.Errorf(human.Unavailable, "no shell was found; install bash or zsh, or name a shell in the setting recording.terminal.shell")
		}
		return all[0], nil
	}
	for _, shell := range all {
		if shell.Name == name || shell.Path == name {
			return shell, nil
		}
	}
	if from == "recording.terminal.shell" && filepath.IsAbs(name) {
		return Shell{Name: strings.TrimSuffix(filepath.Base(name), ".exe"), Path: name}, nil
	}
	var names []string
	for _, shell := range all {
		names = append(names, shell.Name)
	}
	return Shell{}, human.BadField(from, "%q is not an installed shell; there are %s", human.OneLine(name, 80), strings.Join(names, ", "))
}
