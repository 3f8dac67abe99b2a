package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"deskbell/backend/box"
	"deskbell/backend/human"
	"deskbell/backend/store/datadir"
)

// How much of what a box wrote is printed for a person; --json has more of it.
const (
	boxLines = 400
	boxFiles = 200

	boxDiffs = 16 << 20 // bytes of diffs that are made at all
)

// boxFlags are the options of deskbell box.
type boxFlags struct {
	time                  time.Duration
	memory, disk, most    string
	processes             int
	read, env             []string
	keep, keepAll, forget bool
	ask                   boxAsking
}

// A boxReport is what deskbell box prints with --json.
type boxReport struct {
	Command []string `json:"command"`
	Project string   `json:"project"`
	box.Ending
	Outcome string    `json:"outcome"` // none, kept, discarded or failed
	Error   string    `json:"error,omitempty"`
	Files   []boxFile `json:"files"`
	Lost    []string  `json:"lost,omitempty"`
	Masked  []string  `json:"masked,omitempty"`
}

type boxFile struct {
	box.Change
	ModeBefore string `json:"mode_before,omitempty"`
	ModeAfter  string `json:"mode_after,omitempty"`
	Diff       string `json:"diff,omitempty"`
}

func (s *shell) boxCommand() *cobra.Command {
	var f boxFlags
	c := &cobra.Command{
		Use: "box [flags] -- COMMAND...", DisableFlagsInUseLine: true,
		Short: "Run a command on a copy of the project, without a network, and then keep or discard what it wrote",
		Long: "Run a command on a copy of the project, without a network and without your secrets. What it wrote is then shown as a diff, and\n" +
			"you keep or discard it; nothing of the project changes before. The project is the git working tree around the current folder,\n" +
			"else that folder. Without a terminal, what it wrote is discarded unless --keep says otherwise.\n\n" +
			"The exit code is the command's: 124 when it took longer than --time, 125 when there is no box or nothing could be kept. Linux only; it needs bubblewrap.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return human.Errorf(human.Invalid, "say which command")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("discard") && !f.forget {
				return human.Errorf(human.Invalid, "--discard has no value: leave it out, or give --keep") // the gatekeeper lets agents use it
			}
			if c.Flags().Changed("ask-operator") && !f.ask.on {
				return human.Errorf(human.Invalid, "--ask-operator has no value: leave it out, or give --keep")
			}
			var err error
			if f.time, err = f.ask.begin(f.time, c.Flags().Changed("time")); err != nil {
				return err
			}
			s.code = box.NotBoxed
			err = s.runBox(c.Context(), f, args)
			if err != nil {
				s.complain(err)
			}
			return nil
		},
	}
	c.Flags().SetInterspersed(false)
	c.Flags().DurationVar(&f.time, "time", 10*time.Minute, "how long it may take")
	c.Flags().StringVar(&f.memory, "memory", "4GB", "the `SIZE` of the memory of all its processes together")
	c.Flags().StringVar(&f.disk, "disk", "2GB", "the `SIZE` of what it may write")
	c.Flags().StringVar(&f.most, "copy", "2GB", "the largest `SIZE` of a project")
	c.Flags().IntVar(&f.processes, "processes", 1024, "how many processes and threads it may have")
	c.Flags().StringArrayVar(&f.read, "read", nil, "a file or folder, by its `PATH`, that it may read though it is in your home or holds secrets")
	c.Flags().StringArrayVar(&f.env, "env", nil, "the `NAME` of a variable that it gets as well")
	c.Flags().BoolVar(&f.keep, "keep", false, "keep what it wrote without asking, unless something of it runs by itself later")
	c.Flags().BoolVar(&f.keepAll, "keep-all", false, "keep that, too: git's hooks and settings, start files, links that lead out of the project")
	c.Flags().BoolVar(&f.forget, "discard", false, "discard what it wrote without asking")
	f.ask.flags(c)
	s.jsonFlag(c, "print one line of JSON, with the diffs; what the command prints goes to standard error")
	c.MarkFlagsMutuallyExclusive("keep", "discard")
	c.MarkFlagsMutuallyExclusive("keep-all", "discard")
	for _, other := range []string{"keep", "keep-all", "discard", "json"} {
		c.MarkFlagsMutuallyExclusive("ask-operator", other)
	}
	return c
}

// boxOptions are what the box is made with.
func (s *shell) boxOptions(f boxFlags, args []string) (box.Options, error) {
	o := box.Options{Command: args, Variables: f.env, Limits: box.Limits{Time: f.time, Processes: f.processes}}
	for _, size := range []struct {
		flag, text string
		to         *int64
	}{{"memory", f.memory, &o.Limits.Memory}, {"disk", f.disk, &o.Limits.Disk}, {"copy", f.most, &o.Limits.Copy}} {
		var ok bool
		if *size.to, ok = bytesIn(size.text); !ok {
			return o, human.Errorf(human.Invalid, "--%s %s: it must be a size, such as 500MB or 4GB", size.flag, size.text)
		}
	}
	if f.time <= 0 || f.processes <= 0 {
		return o, human.Errorf(human.Invalid, "--time and --processes must be more than zero")
	}
	dir, err := s.dir()
	if err != nil {
		return o, err
	}
	for _, path := range []string{dir, datadir.Usual(), s.config, os.Getenv("DESKBELL_CONFIG")} {
		if path != "" {
			o.Hidden = append(o.Hidden, real(path))
		}
	}
	for _, path := range f.read {
		o.Shown = append(o.Shown, real(path))
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return o, human.Wrap(human.Invalid, err, "no folder for the copy is known: set XDG_CACHE_HOME")
	}
	o.Boxes = filepath.Join(cache, "deskbell", "boxes")
	o.Folder, err = os.Getwd()
	o.Out, o.Errs = boxOutput(s.out), boxOutput(s.err)
	if s.json {
		o.Out = o.Errs
	}
	if f.ask.on {
		o.Out, o.Errs = f.ask.output.behind(o.Out), f.ask.output.behind(o.Errs)
	}
	if !isTerminal(s.in) {
		o.In = s.in // what is typed is for the question, not for the command
	}
	return o, err
}

// real is a path without links, or as it is.
func real(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if there, err := filepath.EvalSymlinks(abs); err == nil {
		return there
	}
	return abs
}

// bytesIn reads a size: 500MB, 4GB, or bytes.
func bytesIn(text string) (int64, bool) {
	digits := strings.TrimRight(strings.ToUpper(strings.TrimSpace(text)), "KMGTIB")
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	unit := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(text))[len(digits):], "B"), "I")
	shift, ok := map[string]uint{"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[unit]
	if err != nil || !ok || n <= 0 || n > 1<<(62-shift) {
		return 0, false
	}
	return n << shift, true
}

func (s *shell) runBox(ctx context.Context, f boxFlags, args []string) (err error) {
	o, err := s.boxOptions(f, args)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	b, err := box.Open(ctx, o)
	if err != nil {
		return err
	}
	defer func() {
		if closed := b.Close(); err == nil && closed != nil {
			err = human.Wrap(human.Internal, closed, "the copy could not be removed: %v", closed)
		}
	}()
	began := time.Now()
	ending, err := b.Run(ctx)
	took := time.Since(began)
	if err != nil {
		return err
	}
	changes, err := b.Changes()
	if err != nil {
		return err
	}
	r := boxReport{Command: args, Project: b.Root, Ending: ending, Outcome: "discarded", Files: []boxFile{}, Lost: changes.Lost, Masked: b.Masked}
	if f.ask.on {
		s.code = ending.Code
		if err := s.offer(ctx, f.ask, o, b, changes, &r, took); err != nil {
			s.code = box.NotBoxed
			return err
		}
		return nil
	}
	r.Files = boxFilesOf(b, changes)
	if !s.json {
		s.boxReport(r)
	}
	failed := s.settle(ctx, f, b, changes, &r)
	s.code = ending.Code
	if failed != nil {
		r.Outcome, r.Error, s.code = "failed", human.SafeText(failed), box.NotBoxed
	}
	if s.json {
		return s.printJSON(r)
	}
	if failed == nil && r.Outcome != "none" {
		s.note("%s.", map[string]string{"kept": "Kept", "discarded": "Discarded"}[r.Outcome])
	}
	return failed
}

// boxFilesOf are changes with their diffs.
func boxFilesOf(b *box.Box, changes box.Changes) []boxFile {
	files := []boxFile{}
	left := boxDiffs
	for _, c := range changes.Files {
		f := boxFile{Change: c}
		if c.How != box.Added {
			f.ModeBefore = c.Before.String()
		}
		if c.How != box.Deleted {
			f.ModeAfter = c.After.String()
		}
		if left > 0 {
			f.Diff = b.Diff(c)
			left -= len(f.Diff)
		}
		files = append(files, f)
	}
	return files
}

// settle keeps what was written, or does not.
func (s *shell) settle(ctx context.Context, f boxFlags, b *box.Box, changes box.Changes, r *boxReport) error {
	warned := changes.Warned()
	switch {
	case len(changes.Files) == 0:
		r.Outcome = "none"
		return nil
	case ctx.Err() != nil || f.forget:
		return nil
	case f.keep || f.keepAll:
		switch {
		case r.Reason != "":
			return human.Errorf(human.Invalid, "nothing was kept, since the command did not end by itself")
		case len(warned) > 0 && !f.keepAll:
			return human.Errorf(human.Invalid, "nothing was kept: %s needs --keep-all, since it runs by itself later or leads out of the project", warned[0].Path)
		}
	case s.json || !s.interactive() || !s.askBox(ctx, len(warned) > 0):
		return nil
	}
	if err := b.Keep(changes); err != nil {
		return err
	}
	r.Outcome = "kept"
	return nil
}

// askBox asks whether to keep what was written, by one key.
func (s *shell) askBox(ctx context.Context, warned bool) bool {
	in := s.in.(*os.File)
	fd := int(in.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return false
	}
	defer func() { _ = term.Restore(fd, before) }() // a terminal that is gone needs none
	forgetTyped(in.Fd())
	key, says := byte('k'), "k keeps it, d discards it: "
	if warned {
		key, says = 'a', "a keeps it all, also what runs by itself later or leads out; d discards it: "
	}
	_, _ = io.WriteString(s.err, says)
	defer func() { _, _ = io.WriteString(s.err, "\r\n") }()
	typed := make(chan byte, 1)
	go func() { // reading a terminal cannot be called off; it ends with the process
		var one [1]byte
		for {
			if n, err := in.Read(one[:]); err != nil || n == 0 {
				typed <- 'd'
				return
			}
			if slices.Contains([]byte{key, 'd', 'D', '\r', '\n', 3, 4, 27, 'q'}, one[0]) {
				typed <- one[0]
				return
			}
		}
	}()
	select {
	case k := <-typed:
		return k == key
	case <-ctx.Done():
		return false
	}
}

// boxReport says to a person how the command ended and what it wrote.
func (s *shell) boxReport(r boxReport) {
	if r.Reason != "" {
		s.note("The command did not end by itself: %s.", visible(r.Reason))
	} else if r.Code != 0 {
		s.note("The command ended with exit code %d.", r.Code)
	}
	for i, path := range r.Lost {
		if i == 20 {
			s.note("and %d more", len(r.Lost)-i)
			break
		}
		s.note("Never kept, since it holds secrets or is no plain file: %s", oneLine(path, 300))
	}
	if len(r.Files) == 0 {
		s.note("No files written.")
		return
	}
	s.note("In %s:", oneLine(r.Project, 300))
	listed, git := 0, 0
	for _, f := range r.Files {
		switch {
		case f.Warning == "" && strings.HasPrefix(f.Path, ".git/"):
			git++
		case f.Warning == "" && listed >= boxFiles:
			listed++
		default:
			listed++
			s.note("  %s", boxLine(f))
		}
	}
	if listed > boxFiles {
		s.note("  and %d more; --json has all of them", listed-boxFiles)
	}
	if git > 0 {
		s.note("  and %d of git's own files", git)
	}
	left := boxLines
	for _, f := range r.Files {
		if f.Diff == "" || f.Warning == "" && strings.HasPrefix(f.Path, ".git/") {
			continue
		}
		all := strings.Split(strings.TrimSuffix(visible(f.Diff), "\n"), "\n")
		if shown := min(left, len(all)); shown > 0 {
			s.note("%s", strings.Join(all[:shown], "\n"))
		}
		left -= len(all)
	}
	if left < 0 {
		s.note("… %d more lines of the diff are not shown; --json has all of them", -left)
	}
}

// boxLine is a change in a line.
func boxLine(f boxFile) string {
	line := fmt.Sprintf("%-8s %s", f.How, oneLine(f.Path, 300))
	switch {
	case f.Link != "":
		line += " → " + oneLine(f.Link, 300)
	case f.How == box.Mode:
		line += " (" + f.ModeBefore + " → " + f.ModeAfter + ")"
	case f.Diff == "" && f.Sizes != [2]int64{}:
		line += " (" + size(f.Sizes[0]) + " → " + size(f.Sizes[1]) + ")"
	}
	if f.How == box.Changed && f.ModeBefore != f.ModeAfter {
		line += " (" + f.ModeBefore + " → " + f.ModeAfter + ")"
	}
	switch f.Warning {
	case box.Runs:
		line += "   ! runs by itself later, or says what does"
	case box.LeadsTo:
		line += "   ! leads out of the project"
	}
	return line
}

// boxOutput is where a command's output goes: as it is, or made safe for a terminal.
func boxOutput(to io.Writer) io.Writer {
	if isTerminal(to) {
		return &visibleWriter{to: to}
	}
	return to
}

// A visibleWriter writes visible text. Programs that have no terminal seldom write carriage returns; they begin a new line.
type visibleWriter struct {
	to   io.Writer
	rest []byte // of a rune that is not complete
}

func (w *visibleWriter) Write(p []byte) (int, error) {
	all := append(w.rest, p...)
	end := len(all)
	for i := 1; i < utf8.UTFMax && i <= len(all); i++ {
		if at := len(all) - i; utf8.RuneStart(all[at]) {
			if !utf8.FullRune(all[at:]) {
				end = at
			}
			break
		}
	}
	text := strings.ReplaceAll(strings.ReplaceAll(string(all[:end]), "\r\n", "\n"), "\r", "\n")
	w.rest = slices.Clone(all[end:])
	_, err := io.WriteString(w.to, visible(text))
	return len(p), err
}
