package term

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/record"
)

func itoa(n int) string { return strconv.Itoa(n) }

// A logbook is the recording of one session: what the session tells it is masked and stored by a goroutine of its own, in
// order, so that the terminal waits for no disk. Without a store it only names commands.
type logbook struct {
	deps  Deps
	id    human.RecordingID // empty: nothing is stored
	noted func(Command)

	mu      sync.Mutex
	changes *sync.Cond
	jobs    []func()
	pending int  // bytes of output in jobs
	closing bool // no more jobs come
	done    chan struct{}

	masked  atomic.Int64
	trouble atomic.Pointer[human.Sentence]

	// Of the session, which holds its lock.
	next uint64 // seq of the next event
	open string // id of the command that runs

	// Of the goroutine.
	rec     human.Recording
	file    record.CastFile
	tape    *tape
	now     *Command // the command that runs
	secrets []string
	typing  string // without echo, right now
	start   time.Time

	once sync.Once
}

// newLogbook begins to write. file is nil where nothing is stored.
func newLogbook(deps Deps, rec human.Recording, file record.CastFile, nonce string, cols, rows int, noted func(Command)) *logbook {
	l := &logbook{
		deps: deps, id: rec.ID, noted: noted, rec: rec, file: file, start: rec.StartedAt,
		done: make(chan struct{}), next: 1, secrets: []string{nonce},
	}
	l.changes = sync.NewCond(&l.mu)
	l.tape = &tape{space: maxOutput, write: l.write, known: l.known}
	l.tape.begin(l.hider(""))
	go l.work()
	l.do(func() {
		head, _ := json.Marshal(map[string]any{ // it has no error
			"version": 3, "term": map[string]any{"cols": cols, "rows": rows, "type": termType}, "timestamp": rec.StartedAt.Unix(),
		})
		l.tape.failed = l.write(append(head, '\n'))
		l.append(human.RecordedEvent{Seq: 1, Source: human.RecorderSource, Type: human.RecordingBegan})
	})
	l.next++
	return l
}

// work does the jobs in order.
func (l *logbook) work() {
	defer close(l.done)
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for len(l.jobs) == 0 && !l.closing {
			l.changes.Wait()
		}
		if len(l.jobs) == 0 {
			return
		}
		jobs := l.jobs
		l.jobs, l.pending = nil, 0
		l.mu.Unlock()
		for _, job := range jobs {
			job()
		}
		l.mu.Lock()
		l.changes.Broadcast()
	}
}

// do has the goroutine do something. It does not block: who calls holds the session's lock, which the goroutine takes, too.
func (l *logbook) do(job func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closing {
		l.jobs = append(l.jobs, job)
		l.changes.Broadcast()
	}
}

// room blocks while much output waits to be written.
func (l *logbook) room() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.pending > maxPending {
		l.changes.Wait()
	}
}

const termType = "xterm-256color"

// known is what must not be seen, the longest first: one may be a part of another.
func (l *logbook) known() []string {
	all := l.secrets
	if len(l.typing) >= leastSecret {
		all = append(slices.Clone(all), l.typing)
	}
	return all
}

func (l *logbook) hider(whole string) func(string) string { return l.deps.Masker.Within(whole) }

func (l *logbook) write(b []byte) error {
	if l.file == nil {
		return nil
	}
	_, err := l.file.Write(b)
	l.rec.Bytes += int64(len(b))
	return err
}

// append stores an event with the recording's header; without one, that alone.
func (l *logbook) append(events ...human.RecordedEvent) {
	if l.id == "" || l.trouble.Load() != nil {
		return
	}
	err := l.tape.failed
	if err == nil && l.file != nil {
		err = l.file.Sync()
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	for _, e := range events {
		l.rec.Counts.Events = e.Seq
		l.rec.Span = max(l.rec.Span, e.At)
	}
	l.rec.Elapsed, l.rec.Counts.Masked = l.rec.Span, uint64(l.masked.Load())
	n := l.rec.Counts.Events
	for i := range l.rec.Sources {
		l.rec.Sources[i].Seen, l.rec.Sources[i].Stored = n, n
	}
	if err = errors.Join(err, l.deps.Store.Append(ctx, l.rec, events)); err != nil {
		l.fail(err)
	}
}

// fail ends the recording; the terminal continues.
func (l *logbook) fail(err error) {
	said := human.Sayf("the terminal is no longer recorded, because the recording cannot be stored; see the log and the space on the disk")
	l.trouble.Store(&said)
	l.deps.Log.Error("a terminal is no longer recorded", "recording", l.id, "err", err)
	wall, _ := l.deps.Clock()
	ended := wall.UTC()
	l.rec.State, l.rec.Reason, l.rec.Complete, l.rec.EndedAt = human.RecordingStopped, "failed", false, &ended
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	if err := l.deps.Store.Append(ctx, l.rec, nil); err != nil {
		l.deps.Log.Error("a recording that failed could not be marked as such", "recording", l.id, "err", err)
	}
	l.changed()
}

func (l *logbook) changed() {
	if l.id != "" && l.deps.Changed != nil {
		l.deps.Changed(l.rec)
	}
}

func (l *logbook) maskedNow() int { return int(l.masked.Load()) }

func (l *logbook) problem() *human.Sentence { return l.trouble.Load() }

// output notes what was printed.
func (l *logbook) output(at int64, text string) {
	l.do(func() { l.tape.output(at, text) })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending += len(text)
}

// secret notes what was typed without echo; unseen, what is being typed so.
func (l *logbook) secret(text string) {
	l.do(func() {
		l.typing = ""
		l.secrets = append(l.secrets, text)
		slices.SortStableFunc(l.secrets, func(a, b string) int { return len(b) - len(a) })
	})
}

func (l *logbook) unseen(text string) { l.do(func() { l.typing = text }) }

func (l *logbook) size(at int64, cols, rows int) {
	l.do(func() { l.tape.put(piece{at, 'r', itoa(cols) + "x" + itoa(rows)}) })
}

// flush writes the lines that are whole, and makes them last.
func (l *logbook) flush() {
	l.do(func() {
		l.tape.flush(true)
		l.count()
		if l.id != "" && l.trouble.Load() == nil && l.file != nil {
			if err := errors.Join(l.tape.failed, l.file.Sync()); err != nil {
				l.fail(err)
			}
		}
	})
}

// count adds what the tape has masked.
func (l *logbook) count() int {
	n := l.tape.masked
	l.tape.masked = 0
	l.masked.Add(int64(n))
	if l.now != nil {
		l.now.Masked += n
	}
	return n
}

// begin notes that a command starts, and returns its id.
func (l *logbook) begin(at int64, c Command) string {
	if l.open != "" {
		l.end(at, nil) // its end was not told
	}
	if l.next >= 2*maxRecorded { // nothing tells commands apart from here on
		return ""
	}
	seq := l.next
	l.next++
	c.ID = "a" + strconv.FormatUint(seq, 10)
	l.open = c.ID
	l.do(func() { l.began(seq, at, c) })
	return c.ID
}

func (l *logbook) began(seq uint64, at int64, c Command) {
	l.tape.end()
	l.count()
	l.now = &c
	c.StartedAt = l.start.Add(time.Duration(at)).UTC()
	hide := l.hider(c.Text)
	masked := hide(c.Text)
	for _, s := range l.known() {
		masked = strings.ReplaceAll(masked, s, hidden)
	}
	if masked != c.Text {
		c.Text, c.Masked = masked, max(strings.Count(masked, hidden), 1)
		l.masked.Add(int64(c.Masked))
	}
	shown := strings.ReplaceAll(c.Text, "\n", "\r\n")
	// What was typed at the prompt is not in the cast, only the command as it was run.
	l.tape.emit([]piece{{0, '#', "command " + c.ID}, {at, 'm', human.OneLine("$ "+c.Text, 200)}, {at, 'o', shown + "\r\n"}})
	l.tape.begin(hide)
	l.append(human.RecordedEvent{Seq: seq, At: at, Source: human.TerminalSource, Type: human.CommandBegan, Command: l.shellCommand()})
	l.noted(c)
}

// shellCommand is the command that runs as it is stored.
func (l *logbook) shellCommand() *human.ShellCommand {
	c := l.now
	return &human.ShellCommand{Text: c.Text, Folder: c.Folder, Masked: c.Masked, Suggestion: c.Suggestion, Edited: c.Edited}
}

// end notes that the command that runs has ended, and returns its id; empty where there is none. exit is nil where it is not known.
func (l *logbook) end(at int64, exit *int) string {
	id := l.open
	if id == "" {
		return ""
	}
	l.open = ""
	seq := l.next
	l.next++
	l.do(func() { l.finished(seq, at, exit) })
	return id
}

func (l *logbook) finished(seq uint64, at int64, exit *int) {
	l.tape.end()
	l.count()
	c := l.now
	c.Lines = int(l.tape.excerpt.lines)
	c.ExitCode = exit
	if exit != nil {
		ended := l.start.Add(time.Duration(at)).UTC()
		took := ended.Sub(c.StartedAt).Milliseconds()
		c.EndedAt, c.Duration = &ended, &took
	}
	stored := l.shellCommand()
	stored.Exit, stored.Lines, stored.Bytes, stored.Output = exit, c.Lines, l.tape.excerpt.bytes, l.tape.excerpt.text()
	stored.Screen = l.tape.excerpt.screen
	l.tape.emit([]piece{{0, '#', "end " + c.ID}})
	began, _ := strconv.ParseUint(c.ID[1:], 10, 64) // made by begin
	l.append(human.RecordedEvent{Seq: seq, At: at, Source: human.TerminalSource, Type: human.CommandEnded, CausedBy: began, Command: stored})
	l.now = nil
	l.tape.begin(l.hider(""))
	l.noted(*c)
}

// close ends the recording, and returns when it is stored.
func (l *logbook) close(at int64, exit int, reason string) {
	l.once.Do(func() {
		l.end(at, nil)
		seq := l.next
		l.do(func() {
			l.tape.end()
			l.count()
			l.tape.emit([]piece{{at, 'x', itoa(exit)}})
			if l.trouble.Load() == nil {
				ended := l.start.Add(time.Duration(at)).UTC()
				l.rec.State, l.rec.Reason, l.rec.EndedAt = human.RecordingStopped, reason, &ended
				l.rec.Complete = true
				l.append(human.RecordedEvent{Seq: seq, At: at, Source: human.RecorderSource, Type: human.RecordingEnded, Text: reason})
			}
			if l.file != nil {
				if err := l.file.Close(); err != nil {
					l.deps.Log.Error("the file of a terminal's recording did not close", "recording", l.id, "err", err)
				}
			}
			l.changed()
		})
		l.mu.Lock()
		l.closing = true
		l.changes.Broadcast()
		l.mu.Unlock()
		<-l.done
	})
}

// header is a recording as it begins.
func header(id human.RecordingID, op human.OperationID, by, system string, at time.Time, o human.TerminalOptions) human.Recording {
	return human.Recording{
		ID: id, OperationID: op, By: by, State: human.RecordingRuns, StartedAt: at.UTC(), System: system + "/terminal", Screens: []human.Screen{},
		Options: human.RecordingOptions{Terminal: &o}, Sources: []human.SourceState{{Source: human.TerminalSource, Status: "complete"}}, Gaps: []human.Gap{},
		MaxBytes: maxOutput,
	}
}
