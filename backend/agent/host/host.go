// Package host runs agents for the server: their conversations, each agent's in a process of its own, and their runs, each in one
// that outlives the server. So no tool of an agent runs in the process that keeps what only a person may do, and whatever ends
// such a process ends nothing else: journals hold what was said and done.
package host

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"deskbell/backend/agent"
	"deskbell/backend/human"
	"deskbell/backend/platform/procgroup"
)

const (
	idle      = 10 * time.Minute // after which a process without a message ends, and an answer that its sender does not ask for is forgotten
	beginning = time.Minute      // until a process can take messages, or a run has begun
	lookEvery = 50 * time.Millisecond
	lastWords = 4 << 10 // bytes of what a process said at its end
	maxLine   = 64 << 20
)

// Journals are those of runs and conversations; runs.Store is one.
type Journals interface {
	// List returns the latest runs, or conversations, as the prefix of their ids says; that of the latest record first.
	List(ctx context.Context, prefix string, most int) ([]agent.RunView, error)
	// Read returns one and its updates after the first so many. Where there are none it waits for one, at most for the time given.
	Read(ctx context.Context, id string, after int, wait time.Duration) (agent.RunUpdates, error)
	// Stop asks the process that runs a run to stop it. Conflict where none does.
	Stop(id string) error
}

// Deps are what a Host needs; all are required.
type Deps struct {
	Program []string // that is Deskbell, with the flags that name the data folder and settings
	Agents  func() ([]agent.Profile, error)
	Runs    Journals
	Folder  string // where tools run of an agent that has no folder, where none is named
	// Started tells that a process is an agent's, before it can do anything.
	Started func(pid int, name string)
	NewID   func(prefix string) string
	Log     *slog.Logger
}

// A Host is safe for concurrent use.
type Host struct {
	d Deps

	mu     sync.Mutex
	all    map[place]*worker
	jobs   map[string]*job // by session
	closed bool

	work sync.WaitGroup // of jobs
}

// place is what a process is for.
type place struct{ agent, folder string }

// New makes a host. It starts nothing by itself.
func New(d Deps) *Host { return &Host{d: d, all: map[place]*worker{}, jobs: map[string]*job{}} }

// Agents are those that there are.
func (h *Host) Agents() ([]agent.Profile, error) { return h.d.Agents() }

// List returns the latest runs, or conversations; as Journals.
func (h *Host) List(ctx context.Context, prefix string, most int) ([]agent.RunView, error) {
	return h.d.Runs.List(ctx, prefix, most)
}

// Read returns a run or a conversation and its updates after the first so many; as Journals.
func (h *Host) Read(ctx context.Context, id string, after int, wait time.Duration) (agent.RunUpdates, error) {
	return h.d.Runs.Read(ctx, id, after, wait)
}

// Message has an agent answer a message, as agent.ToolAgent.Answer does, in a folder; of a session that is the session's. by is who
// sends it: only open agents take messages of other agents. It blocks until the answer, or until ctx ends: then the agent continues,
// the Response has the session's id and the status working, and the same message of the session waits for the answer again, which is
// kept for it for ten minutes. A message with a key gets the same answer whenever it is sent again, until another one is answered.
// Errors are of package human: Conflict for another message of a session that is working.
func (h *Host) Message(ctx context.Context, by human.Actor, name string, sent agent.Sent) (agent.Response, error) {
	who, err := h.find(name)
	if err != nil {
		return agent.Response{}, err
	}
	m := agent.Message{Text: strings.TrimSpace(sent.Message), Session: sent.Session, Key: sent.Key}
	folder := sent.Folder
	if m.Text == "" {
		return agent.Response{}, human.BadField("message", "is empty; say what is to be done")
	}
	if by.Role == human.Agent {
		m.By = by.Name
		if !who.Open {
			return agent.Response{}, human.Errorf(human.Denied, "the agent %s takes messages only from people; open = true in %s changes that", name, agent.ProfilesFile)
		}
		folder = "" // its tools run with the operator's rights: where, is not another agent's to say
	}
	if m.Session == "" {
		if folder, err = h.folder(who, folder); err != nil {
			return agent.Response{}, err
		}
		m.Session, m.New = h.d.NewID(agent.ConversationPrefix), true
		if m.Key != "" { // the same message again finds the conversation that it began
			m.Session = agent.ConversationPrefix + keyed(string(by.Role), by.Name, who.Name, m.Key)
		}
	} else if folder, err = h.folderOf(ctx, m); err != nil {
		return agent.Response{}, err
	}
	j, err := h.job(place{who.Name, folder}, m)
	if err != nil {
		return agent.Response{}, err
	}
	select {
	case <-j.done:
		h.release(j)
		return j.response, j.err
	case <-ctx.Done():
		return agent.Response{Agent: who.Name, Status: agent.Working, Query: m.Text, SessionID: m.Session, Data: agent.ResponseData{History: []agent.Turn{}}}, nil
	}
}

// folderOf is where the tools of a session run.
func (h *Host) folderOf(ctx context.Context, m agent.Message) (string, error) {
	h.mu.Lock()
	j := h.jobs[m.Session]
	h.mu.Unlock()
	if j != nil {
		return j.place.folder, nil
	}
	run, err := h.d.Runs.Read(ctx, m.Session, 0, 0)
	if human.KindOf(err) == human.NotFound && err != nil || err == nil && m.By != "" && run.Run.By != m.By {
		return "", human.Errorf(human.NotFound, "session %q is not known here: check the id, or send the message without one to start a new session", human.OneLine(m.Session, 80))
	}
	return run.Run.Cwd, err
}

// A job is a message that is answered.
type job struct {
	place    place
	message  agent.Message
	stop     context.CancelFunc
	done     chan struct{}
	response agent.Response
	err      error
}

// isOver says whether there is an answer.
func (j *job) isOver() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// job begins to have a message answered, or joins the same one of its session.
func (h *Host) job(p place, m agent.Message) (*job, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if j := h.jobs[m.Session]; j != nil {
		over := j.isOver()
		switch {
		case j.message.By != m.By:
			return nil, human.Errorf(human.NotFound, "session %q is not known here: check the id, or send the message without one to start a new session", human.OneLine(m.Session, 80))
		case j.message.Text == m.Text && (!over || j.message.Key == m.Key):
			return j, nil
		case !over:
			return nil, human.Errorf(human.Conflict, "session %s is still answering another message; wait for that answer", m.Session)
		}
	}
	if h.closed {
		return nil, human.Errorf(human.Unavailable, "Deskbell is shutting down")
	}
	ctx, stop := context.WithCancel(context.Background())
	j := &job{place: p, message: m, stop: stop, done: make(chan struct{})}
	h.jobs[m.Session] = j
	h.work.Go(func() {
		defer stop()
		j.response, j.err = h.answer(ctx, p, m)
		h.over(j)
	})
	return j, nil
}

// over keeps an answer for its sender, for a time.
func (h *Host) over(j *job) {
	close(j.done)
	time.AfterFunc(idle, func() { h.release(j) })
}

// release forgets an answer that was returned, or that its sender has not asked for again.
func (h *Host) release(j *job) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.jobs[j.message.Session] == j {
		delete(h.jobs, j.message.Session)
	}
}

// keyed is the part of an id that stands for what its parts name.
func keyed(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// answer has a message answered by the process for its place. One that ends in the middle of it is started again, once: the
// conversation continues where it stood.
func (h *Host) answer(ctx context.Context, p place, m agent.Message) (agent.Response, error) {
	for again := false; ; again = true {
		w, err := h.worker(ctx, p)
		if err != nil {
			return agent.Response{}, err
		}
		n, answer := w.order(agent.Order{Message: m})
		if answer != nil {
			r, ended, err := w.answered(ctx, n, answer)
			if !ended || again || ctx.Err() != nil {
				return r, err
			}
			h.d.Log.Warn("the process of an agent ended in the middle of an answer; it is started again", "agent", p.agent, "session_id", m.Session)
		} else if again {
			return agent.Response{}, human.Errorf(human.Unavailable, "the process of the agent %s ends at once; see Deskbell's log", p.agent)
		}
	}
}

// Silence stops what a conversation is at; the same message may be sent again. Conflict where it is at nothing.
func (h *Host) Silence(session string) error {
	h.mu.Lock()
	j := h.jobs[session]
	h.mu.Unlock()
	if j == nil || j.isOver() {
		return human.Errorf(human.Conflict, "the conversation %s is not answering a message now", human.OneLine(session, 80))
	}
	j.stop()
	<-j.done
	return nil
}

func (h *Host) find(name string) (agent.Profile, error) {
	all, err := h.d.Agents()
	if err != nil {
		return agent.Profile{}, err
	}
	return agent.FindProfile(all, name)
}

// folder is where the tools of an agent run.
func (h *Host) folder(who agent.Profile, asked string) (string, error) {
	folder := cmp.Or(who.Folder, asked, h.d.Folder)
	if !filepath.IsAbs(folder) {
		return "", human.BadField("folder", "is %q; it must be absolute", human.OneLine(folder, 200))
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "", human.BadField("folder", "%q is not there, or is no folder", human.OneLine(folder, 200))
	}
	return filepath.Clean(folder), nil
}

// Start begins a run of an agent, in a process that outlives this one, and returns its id once its journal is there.
func (h *Host) Start(ctx context.Context, name, task, folder string) (id string, err error) {
	if strings.TrimSpace(task) == "" {
		return "", human.BadField("task", "is empty; say what is to be done")
	}
	who, err := h.find(name)
	if err != nil {
		return "", err
	}
	if folder, err = h.folder(who, folder); err != nil {
		return "", err
	}
	id = h.d.NewID(agent.RunPrefix)
	return id, h.run(ctx, id, who.Name, task, time.Time{}, "run", "--id", id, "--agent", who.Name, "--cwd", folder, "-")
}

// Resume continues a run that no process runs.
func (h *Host) Resume(ctx context.Context, id string) error {
	run, err := h.d.Runs.Read(ctx, id, 0, 0)
	switch {
	case err != nil:
		return err
	case run.Run.Alive:
		return human.Errorf(human.Conflict, "the run %s is running", id)
	case run.Run.Over:
		return human.Errorf(human.Conflict, "the run %s has ended: %s", id, human.OneLine(run.Run.Content, 200))
	}
	return h.run(ctx, id, run.Run.Agent, "", run.Run.Last, "resume", id)
}

// Stop asks the process of a run to stop; the run can be resumed.
func (h *Host) Stop(id string) error { return h.d.Runs.Stop(id) }

// run starts the process of a run whose journal was last written at a time, and waits until it holds the journal or has written
// more to it.
func (h *Host) run(ctx context.Context, id, name, input string, before time.Time, args ...string) error {
	said, err := os.CreateTemp("", "deskbell-run-*")
	if err != nil {
		return human.Wrap(human.Unavailable, err, "no temporary file can be written")
	}
	cmd := h.command(append([]string{"agent"}, args...)) // not CommandContext: it is to outlive this process
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), nil, said
	procgroup.Detach(cmd)
	// What it says once its journal is there, that has, too.
	defer func() { _ = said.Close(); _ = os.Remove(said.Name()) }()
	if err := cmd.Start(); err != nil {
		return human.Wrap(human.Internal, err, "the process of the run could not be started: %v", err)
	}
	h.d.Started(cmd.Process.Pid, name)
	ended := make(chan struct{})
	go func() { // ends with the run, or with this process
		_ = cmd.Wait() // how it ends, its journal says
		close(ended)
	}()
	begun := func() bool {
		run, err := h.d.Runs.Read(ctx, id, 0, 0)
		return err == nil && (run.Run.Alive || run.Run.Over || !run.Run.Last.Equal(before))
	}
	late := time.NewTimer(beginning)
	defer late.Stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for !begun() {
		select {
		case <-ended:
			if begun() { // and has ended since it was looked at
				return nil
			}
			text, _ := os.ReadFile(said.Name())
			return human.Errorf(human.Unavailable, "the run did not begin: %s", lastOf(text))
		case <-late.C:
			return human.Errorf(human.Unavailable, "the run has not begun after %v", beginning)
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

func (h *Host) command(args []string) *exec.Cmd {
	args = append(args, h.d.Program[1:]...)
	cmd := exec.Command(h.d.Program[0], args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { // it finds this Deskbell by its data folder
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"DESKBELL_KEY", "DESKBELL_URL", "DESKBELL_ADDR"}, name)
	})
	return cmd
}

// lastOf is the end of what a process said, in a line.
func lastOf(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text[max(0, len(text)-lastWords):])), "\n")
	return human.OneLine(strings.TrimPrefix(lines[len(lines)-1], "deskbell: "), 500)
}

// Close ends the processes of conversations, and waits for them. Runs continue.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	all := h.all
	h.all = map[place]*worker{}
	for _, j := range h.jobs {
		j.stop()
	}
	h.mu.Unlock()
	h.work.Wait()
	for _, w := range all {
		w.end()
	}
	for _, w := range all {
		<-w.ended
	}
	return nil
}

// worker is the process for a place, which is started where there is none.
func (h *Host) worker(ctx context.Context, p place) (*worker, error) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil, human.Errorf(human.Unavailable, "Deskbell is shutting down")
	}
	w := h.all[p]
	if w == nil {
		w = &worker{host: h, place: p, ready: make(chan struct{}), ended: make(chan struct{}), waiting: map[int]chan agent.Return{}}
		h.all[p] = w
		go w.run() // ends with its process, which Close ends
	}
	h.mu.Unlock()
	select {
	case <-w.ready:
		return w, nil
	case <-w.ended:
		return nil, human.Errorf(cmp.Or(w.kind, human.Unavailable), "the agent %s could not be started: %s", p.agent, w.why)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A worker is a process that answers an agent's messages in a folder.
type worker struct {
	host  *Host
	place place
	ready chan struct{}
	ended chan struct{}
	why   string // it ended; to be read then
	kind  human.ErrorKind

	mu      sync.Mutex
	in      io.WriteCloser // nil before it began, and once it is to end
	orders  int
	waiting map[int]chan agent.Return
	rest    *time.Timer // until it has been idle for long
}

// run starts the process and reads what it returns, until its end.
func (w *worker) run() {
	said := &tail{}
	err := w.process(said)
	w.host.mu.Lock()
	if w.host.all[w.place] == w {
		delete(w.host.all, w.place)
	}
	w.host.mu.Unlock()
	if w.why = lastOf(said.text()); w.why == "" && err != nil {
		w.why = human.SafeText(err)
	}
	w.kind = human.KindOf(err)
	w.mu.Lock()
	w.in = nil
	for n, c := range w.waiting {
		c <- agent.Return{N: n, Gone: true, Error: agent.FaultOf(human.Errorf(human.Unavailable, "the process of the agent has ended; send the message again: what was done for it is not done twice"))}
	}
	w.waiting = map[int]chan agent.Return{}
	w.mu.Unlock()
	close(w.ended)
}

func (w *worker) process(said io.Writer) error {
	cmd := w.host.command([]string{"agent", "serve", "--agent", w.place.agent, "--cwd", w.place.folder})
	cmd.Stderr = said
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	group, err := procgroup.Start(cmd)
	if err != nil {
		return err
	}
	defer group.Release()
	w.host.d.Started(cmd.Process.Pid, w.place.agent)
	w.host.mu.Lock()
	closed := w.host.closed
	w.host.mu.Unlock()
	w.mu.Lock()
	w.in = in
	w.rest = time.AfterFunc(idle, w.end)
	w.mu.Unlock()
	if closed {
		w.end()
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var r agent.Return
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			w.host.d.Log.Warn("an agent's process wrote what is no answer", "agent", w.place.agent, "err", err)
			break
		}
		if r.N == 0 {
			close(w.ready)
			continue
		}
		w.mu.Lock()
		c := w.waiting[r.N]
		delete(w.waiting, r.N)
		if len(w.waiting) == 0 && w.in != nil {
			w.rest.Reset(idle)
		}
		w.mu.Unlock()
		if c != nil {
			c <- r
		}
	}
	w.end()
	late := time.AfterFunc(5*time.Second, group.Kill)
	defer late.Stop()
	return cmd.Wait()
}

// end lets the process end, once it has answered what it is at: it stops that.
func (w *worker) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.in != nil {
		w.rest.Stop()
		_ = w.in.Close() // it may have ended
		w.in = nil
	}
}

// order hands a message in; answer is nil where the process has ended, or is to end because it was idle.
func (w *worker) order(o agent.Order) (n int, answer chan agent.Return) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.orders++
	if o.N = w.orders; !w.write(o) {
		return 0, nil
	}
	answer = make(chan agent.Return, 1)
	w.waiting[w.orders] = answer
	w.rest.Stop()
	return w.orders, answer
}

// answered waits for the answer to an order; ended: its process has ended without.
func (w *worker) answered(ctx context.Context, n int, answer chan agent.Return) (r agent.Response, ended bool, err error) {
	select {
	case back := <-answer:
		r, err = result(back)
		return r, back.Gone, err
	case <-ctx.Done():
	}
	w.mu.Lock()
	w.write(agent.Order{N: n, Cancel: true}) // where it has ended there is nothing to stop
	w.mu.Unlock()
	<-answer // it stops what it is at, and what it has done is stored
	return r, false, human.Errorf(human.Unavailable, "the answer was stopped; the same message again continues")
}

func result(r agent.Return) (agent.Response, error) {
	if r.Response != nil {
		return *r.Response, nil
	}
	if r.Error == nil {
		return agent.Response{}, human.Errorf(human.Internal, "the process of the agent returned nothing")
	}
	return agent.Response{}, r.Error.Err()
}

// write writes an order, and says whether it could; w.mu is held.
func (w *worker) write(o agent.Order) bool {
	line, err := json.Marshal(o)
	if err != nil || w.in == nil {
		return false
	}
	_, err = w.in.Write(append(line, '\n'))
	return err == nil
}

// tail keeps the end of what is written.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	t.b = bytes.Clone(t.b[max(0, len(t.b)-lastWords):])
	return len(p), nil
}

func (t *tail) text() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.b)
}
