package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/box"
	"deskbell/backend/human"
	"deskbell/backend/store/datadir"
	"deskbell/backend/transport/client"
)

// How much of a result the operator is sent. What is not listed is not kept.
const (
	sentOutput = 32 << 10
	sentLines  = 200
	sentFiles  = 500
	sentDiffs  = 256 << 10
	sentDiff   = 64 << 10
)

// boxAsking is how an operator is asked about a result.
type boxAsking struct {
	on             bool
	agent, session string
	limit          time.Duration
	deadline       time.Time
	output         *tail
}

func (a *boxAsking) flags(c *cobra.Command) {
	c.Flags().BoolVar(&a.on, "ask-operator", false, "ask the operator in Deskbell which files to keep, and wait for the answer; for agents")
	c.Flags().StringVar(&a.agent, "agent", "", "with --ask-operator: the agent's name for the operator (DESKBELL_AGENT); default: the name of the program that starts it")
	c.Flags().StringVar(&a.session, "session", "", "with --ask-operator: the thread of work this belongs to")
	c.Flags().DurationVar(&a.limit, "limit", time.Hour, "with --ask-operator: how long the command and the answer may take together; without an answer by then all is discarded")
}

// begin sets the time by which all is over, and returns the command's own: half of it, unless it was given.
func (a *boxAsking) begin(of time.Duration, given bool) (time.Duration, error) {
	if !a.on {
		return of, nil
	}
	if a.limit < 10*time.Second {
		return of, human.Errorf(human.Invalid, "--limit must be 10s or more")
	}
	a.deadline = time.Now().Add(a.limit)
	a.output = &tail{}
	if !given {
		of = min(of, a.limit/2)
	}
	return of, nil
}

// offer asks the operator which files are kept, keeps those, and says to the agent what came of it.
func (s *shell) offer(ctx context.Context, a boxAsking, o box.Options, b *box.Box, changes box.Changes, r *boxReport, took time.Duration) error {
	if r.Reason != "" {
		s.note("The command did not end by itself: %s.", visible(r.Reason))
	}
	if len(changes.Files) == 0 {
		r.Outcome = "none"
		s.note("It ran in Deskbell's box and wrote no files.")
		return nil
	}
	if ctx.Err() != nil {
		return nil
	}
	details := s.boxResult(o, b, changes, *r, a.output, took)
	if err := b.Seal(changes); err != nil {
		return err
	}
	op, err := s.askAboutBox(ctx, a, details)
	switch {
	case err != nil:
		return human.Wrap(human.KindOf(err), err, "the operator could not be asked, so what it wrote was discarded: %s", human.Inner{Err: err})
	case op.Result != nil && op.Result.Decision == human.Approved:
		some, err := changes.Chosen(op.Result.Keep)
		if err == nil {
			err = b.Keep(some)
		}
		if err != nil {
			return err
		}
		r.Outcome = "kept"
	}
	s.sayKept(op, details)
	return nil
}

// boxResult is what an operator is shown.
func (s *shell) boxResult(o box.Options, b *box.Box, changes box.Changes, r boxReport, output *tail, took time.Duration) human.BoxResult {
	mask := s.Mask
	if mask == nil {
		mask = func(text string) string { return text }
	}
	l := o.Limits
	d := human.BoxResult{
		Command: mask(plainCommand(r.Command)), Folder: b.Folder, Project: b.Root, Code: r.Code, Reason: r.Reason, Seconds: took.Seconds(),
		Lines: output.lines(), Output: output.last(mask, sentLines, sentOutput), Files: []human.BoxFile{}, Lost: r.Lost[:min(len(r.Lost), sentFiles)], Masked: r.Masked[:min(len(r.Masked), sentFiles)],
		Limits: human.BoxLimits{Seconds: l.Time.Seconds(), Memory: l.Memory, Disk: l.Disk, Processes: l.Processes}, With: box.Version(), Risk: human.MediumRisk,
	}
	choices := changes.Choices()
	// What needs a look of its own comes before what may be too much to list.
	slices.SortStableFunc(choices, func(x, y box.Choice) int { return cmp.Compare(rank(x.Warning), rank(y.Warning)) })
	left := sentDiffs
	for i, c := range choices {
		d.Written += c.Sizes[1]
		if i >= sentFiles {
			d.More++
			continue
		}
		f := human.BoxFile{Path: c.Path, Change: string(c.How), Files: c.Files, Sizes: c.Sizes, Link: c.Link, Warning: string(c.Warning)}
		if c.How == box.Mode || c.How == box.Changed && c.Files == 0 && c.Before != c.After {
			f.Before, f.After = c.Before.String(), c.After.String()
		}
		if c.Files == 0 && left > 0 {
			if diff := mask(b.Diff(c.Change)); len(diff) <= min(left, sentDiff) {
				f.Diff = diff
				left -= len(diff)
			}
		}
		if c.Warning != "" {
			d.Risk = human.HighRisk
		}
		d.Files = append(d.Files, f)
	}
	return d
}

func rank(w box.Warning) int {
	if w == "" {
		return 1
	}
	return 0
}

// plainCommand is a command as one types it: what a shell is given is that itself.
func plainCommand(words []string) string {
	if len(words) == 3 && (words[0] == "bash" || words[0] == "sh") && words[1] == "-c" {
		return words[2]
	}
	return human.ShellWords(words...)
}

// boxTitle is the line that is read first where no window says it in words of its own.
func boxTitle(d human.BoxResult) string {
	return human.OneLine(d.Command, 200) + " wrote " + counted(len(d.Files)+d.More, "file", "files")
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// askAboutBox asks, and waits for the end of the question. The server is that of the data folder and of nothing else: whoever
// answers decides what comes into the project, and an agent can set variables.
func (s *shell) askAboutBox(ctx context.Context, a boxAsking, d human.BoxResult) (op human.Operation, err error) {
	key, drop, err := s.boxKey(ctx, a.agent)
	if err != nil {
		return op, err
	}
	defer func() {
		if dropped := drop(); dropped != nil {
			s.note("the key of this run could not be removed: %s", visible(human.SafeText(dropped)))
		}
	}()
	agent := client.Finding(func() (string, error) {
		dir, err := s.dir()
		if err != nil {
			return "", err
		}
		running, err := datadir.Find(dir)
		return running.At(), err
	}, key)
	defer agent.Close()
	ring := client.Ring{Kind: human.Box, Description: boxTitle(d), SessionID: a.session, OnTimeout: human.Cancel}
	if ring.Details, err = json.Marshal(d); err != nil {
		return op, err
	}
	left := max(time.Until(a.deadline), 5*time.Second).Seconds()
	ring.Timeout = &left
	if op, _, err = agent.Invoke(ctx, ring); err != nil {
		return op, err
	}
	s.note("It ran in Deskbell's box. The operator is asked which of the files to keep (%s).", op.ID)
	waiting, stop := context.WithDeadline(ctx, a.deadline.Add(5*time.Second)) // it ends by itself, a moment earlier
	defer stop()
	for !op.State.Terminal() {
		next, err := s.poll(waiting, agent, op)
		if err == nil {
			op = next
			continue
		}
		last, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer done()
		if _, withdrawn := agent.Cancel(last, op.ID, "the command that asked has ended"); withdrawn != nil {
			s.note("the request could not be withdrawn: %s", visible(human.SafeText(withdrawn)))
		}
		return op, err
	}
	last, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	_ = agent.MarkDelivered(last, op.ID) // without it the operator sees it as not read
	return op, nil
}

// boxKey is the agent's own key, or one for as long as this runs.
func (s *shell) boxKey(ctx context.Context, name string) (key string, drop func() error, err error) {
	if key = os.Getenv("DESKBELL_KEY"); key != "" {
		return key, func() error { return nil }, nil
	}
	return s.mint(ctx, agentName(name))
}

// sayKept says to an agent what became of what its command wrote.
func (s *shell) sayKept(op human.Operation, d human.BoxResult) {
	const apart = "Do not make the discarded changes another way; ask the user."
	var kept, gone []string
	for _, f := range d.Files {
		if op.Result != nil && slices.Contains(op.Result.Keep, f.Path) {
			kept = append(kept, f.Path)
		} else {
			gone = append(gone, f.Path)
		}
	}
	says := ""
	switch {
	case op.Result != nil:
		says = op.Result.HumanInput
	case op.State == human.Declined && op.Ended != nil:
		says = op.Ended.Reason
	}
	if says = strings.TrimSpace(says); says != "" {
		says = " They say: " + oneLine(says, 2000)
	}
	switch {
	case op.Result != nil && len(kept) > 0:
		s.note("The operator kept: %s.%s", listedAnd(kept, 0), says)
		if len(gone)+d.More > 0 {
			s.note("Discarded: %s. %s", listedAnd(gone, d.More), apart)
		}
	case op.Result != nil || op.State == human.Declined:
		s.note("The operator discarded all that the command wrote; the project is as it was.%s %s", says, apart)
	default:
		s.note("There was no answer in time, so all that the command wrote was discarded; the project is as it was. %s", apart)
	}
}

// listedAnd lists paths in a line, with how many more there are.
func listedAnd(paths []string, more int) string {
	const most = 50
	shown := make([]string, 0, most+1)
	for i, path := range paths {
		if i == most {
			more += len(paths) - most
			break
		}
		shown = append(shown, oneLine(path, 300))
	}
	text := strings.Join(shown, ", ")
	if more > 0 {
		text += " and " + counted(more, "more file", "more files")
	}
	return text
}

// A tail passes on what is written to several writers, and keeps the end of it.
type tail struct {
	mu     sync.Mutex
	text   []byte
	ended  int  // lines
	within bool // a line has begun
}

// behind is a writer that passes on to another, and keeps.
func (t *tail) behind(to io.Writer) io.Writer { return &tee{t, to} }

type tee struct {
	kept *tail
	to   io.Writer
}

func (w *tee) Write(p []byte) (int, error) {
	w.kept.add(p)
	return w.to.Write(p)
}

func (t *tail) add(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range p {
		if t.within = c != '\n'; !t.within {
			t.ended++
		}
	}
	t.text = append(t.text, p...)
	if len(t.text) > 4*sentOutput {
		t.text = slices.Clone(t.text[len(t.text)-2*sentOutput:])
	}
}

// lines is how many were written.
func (t *tail) lines() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.within {
		return t.ended + 1
	}
	return t.ended
}

// last are the last lines, masked, at most so many and so many bytes. Of a line that was written over, the last state counts.
func (t *tail) last(mask func(string) string, most, bytes int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := mask(strings.ReplaceAll(strings.ToValidUTF8(string(t.text), "\uFFFD"), "\r\n", "\n"))
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	lines = lines[max(0, len(lines)-most):]
	size, from := 0, len(lines)
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimRight(lines[i], "\r")
		lines[i] = human.Shorten(line[strings.LastIndexByte(line, '\r')+1:], bytes/2)
		if size += len(lines[i]) + 1; size > bytes {
			break
		}
		from = i
	}
	return strings.Join(lines[from:], "\n")
}
