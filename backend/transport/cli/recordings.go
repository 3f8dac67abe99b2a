package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/store/disk"
	"deskbell/backend/transport/client"
)

func (s *shell) recordCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "record",
		Short: "Record the desktop or a browser while you work on an operation, as an operator",
		Long: "Record the desktop of the machine that Deskbell runs on, or a browser that it opens there, while\n" +
			"you work on an operation. What was\n" +
			"recorded stays here: the agent reads what you attach to your answer, and nothing else. `deskbell recordings` lists\n" +
			"what was recorded.",
	}
	c.AddCommand(s.recordStartCommand(), s.recordStatusCommand(),
		s.recordControl("pause", "Pause the recording", (*client.Client).PauseRecording),
		s.recordControl("resume", "Resume the recording", (*client.Client).ResumeRecording),
		s.recordControl("stop", "Stop the recording and keep it", (*client.Client).StopRecording),
		s.recordDiscardCommand(), s.recordPickCommand(), s.recordShowCommand())
	return c
}

func (s *shell) recordStartCommand() *cobra.Command {
	var o human.RecordingOptions
	var web human.BrowserOptions
	var plain, browser, desktop bool
	c := &cobra.Command{
		Use:   "start OPERATION",
		Short: "Record the work on an operation that you have claimed",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			for i, folder := range o.Folders {
				path, err := filepath.Abs(folder)
				if err != nil {
					return human.Wrap(human.Invalid, err, "--folder %s: %v", folder, err)
				}
				o.Folders[i] = path
			}
			if plain {
				o.Pictures = new(bool)
			}
			if browser || web != (human.BrowserOptions{}) {
				o.Browser, o.Desktop = &web, &desktop
			}
			operator, err := s.operator(c.Context())
			if err != nil {
				return err
			}
			r, err := operator.StartRecording(c.Context(), human.OperationID(args[0]), o)
			if err != nil {
				return err
			}
			if !s.json {
				s.shortcomings(r.Sources)
			}
			return s.recorded(r, nil)
		},
	}
	f := c.Flags()
	f.StringArrayVar(&o.Folders, "folder", nil, "also record changes of files in and under this folder; may be given several times")
	f.StringVar(&o.Clipboard, "clipboard", "", "what to record of the clipboard: off, kind (the default: its kind of content) or content (also its text)")
	f.BoolVar(&plain, "no-pictures", false, "take no pictures")
	f.BoolVar(&browser, "browser", false, "open a browser and record what is done in it, instead of the desktop; so does each of the flags below")
	f.StringVar(&web.URL, "open", "", "the address it opens; default: the operation's url")
	f.StringVar(&web.Profile, "profile", "", "kept (logins stay) or throwaway; default: as in the settings")
	f.StringVar(&web.Attach, "attach", "", "record the browser with this debugging address, such as http://127.0.0.1:9222, and open none")
	f.BoolVar(&web.Network, "network", false, "record requests, without bodies and credentials")
	f.BoolVar(&web.Console, "console", false, "record errors and warnings of pages")
	f.BoolVar(&web.DOM, "film", false, "record the pages themselves, to play them like a film; slows them down")
	f.BoolVar(&desktop, "desktop", false, "with a browser, record the desktop as well")
	return s.operatorFlags(c, "print the recording as one line of JSON")
}

// current is the recording that was named, or the one that runs.
func (s *shell) current(ctx context.Context, operator *client.Client, args []string) (human.RecordingID, error) {
	if len(args) > 0 {
		return human.RecordingID(args[0]), nil
	}
	state, err := operator.Recorder(ctx)
	if err != nil {
		return "", err
	}
	if state.Current == nil {
		return "", human.Errorf(human.NotFound, "nothing is being recorded")
	}
	return state.Current.ID, nil
}

func (s *shell) recordControl(name, short string, do func(*client.Client, context.Context, human.RecordingID) (human.Recording, error)) *cobra.Command {
	return s.operatorFlags(&cobra.Command{
		Use: name + " [RECORDING]", Short: short, Args: cobra.MaximumNArgs(1),
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			id, err := s.current(ctx, operator, args)
			if err != nil {
				return err
			}
			return s.recorded(do(operator, ctx, id))
		}),
	}, "print the recording as one line of JSON")
}

func (s *shell) recordPickCommand() *cobra.Command {
	var take string
	c := &cobra.Command{
		Use: "pick FIELD", Short: "Point at something in the recorded browser for a field; an empty FIELD ends that", Args: cobra.ExactArgs(1),
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			id, err := s.current(ctx, operator, nil)
			if err == nil {
				err = operator.PickField(ctx, id, human.PickRequest{Field: args[0], Take: take})
			}
			return s.told(id, "picking", err)
		}),
	}
	c.Flags().StringVar(&take, "take", "", "element (the default), selection (what is selected now), table or list (all of it, as rows)")
	return s.operatorFlags(c, "print one line of JSON")
}

func (s *shell) recordShowCommand() *cobra.Command {
	return s.operatorFlags(&cobra.Command{
		Use: "show-browser", Short: "Bring the recorded browser to the front; one that was closed is opened again", Args: cobra.NoArgs,
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			id, err := s.current(ctx, operator, nil)
			if err == nil {
				err = operator.ShowBrowser(ctx, id)
			}
			return s.told(id, "shown", err)
		}),
	}, "print one line of JSON")
}

func (s *shell) recordDiscardCommand() *cobra.Command {
	return s.operatorFlags(&cobra.Command{
		Use: "discard [RECORDING]", Short: "Stop the recording and delete it", Args: cobra.MaximumNArgs(1),
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			id, err := s.current(ctx, operator, args)
			if err == nil {
				err = operator.DiscardRecording(ctx, id)
			}
			return s.told(id, "discarded", err)
		}),
	}, "print one line of JSON")
}

func (s *shell) recordStatusCommand() *cobra.Command {
	return s.operatorFlags(&cobra.Command{
		Use: "status", Short: "Print what can be recorded here, and what is being recorded", Args: cobra.NoArgs,
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			state, err := operator.Recorder(ctx)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(state)
			}
			if state.Current == nil {
				s.printf("Nothing is being recorded.\n")
			} else if err := s.recorded(*state.Current, nil); err != nil {
				return err
			}
			return s.sources(state.Sources)
		}),
	}, "print the state as one line of JSON")
}

func (s *shell) sources(all []human.SourceState) error {
	w := s.columns()
	for _, source := range all {
		line := "  " + visible(string(source.Source)) + "\t" + visible(source.Status)
		if more := oneLine(source.Detail+" "+source.Fix, 200); more != "" {
			line += "\t" + more
		}
		w.row("%s\n", line)
	}
	return w.flush()
}

// shortcomings notes what will be missing in a recording.
func (s *shell) shortcomings(all []human.SourceState) {
	for _, source := range all {
		if source.Status == "partial" || source.Status == "missing" {
			s.note("%s: %s. %s", visible(string(source.Source)), visible(source.Status), oneLine(source.Detail+" "+source.Fix, 400))
		}
	}
}

// recorded prints how a recording stands.
func (s *shell) recorded(r human.Recording, err error) error {
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(r)
	}
	s.printf("%s of %s: %s\n", visible(string(r.ID)), visible(string(r.OperationID)), visible(standing(r)))
	if r.NearLimit {
		s.note("It is near its limit of %s or %s, where it stops.", span(time.Duration(r.MaxElapsed)), size(r.MaxBytes))
	}
	return nil
}

// standing tells in a line how a recording stands.
func standing(r human.Recording) string {
	n := r.Counts
	text := fmt.Sprintf("%s, %s, %d events, %d clicks, %d keys, %d pictures, %s", r.State, moment(r.Elapsed), n.Events, n.Clicks, n.Keys, n.Pictures, size(r.Bytes))
	if r.Reason != "" && r.Reason != "operator" {
		text += ", ended by " + strings.ReplaceAll(r.Reason, "_", " ")
	}
	switch {
	case r.Running():
	case r.Removed != nil:
		text += ", removed on " + r.Removed.Local().Format(time.DateOnly) + " by retention"
	case r.Complete:
		text += ", complete"
	default:
		text += ", not complete"
	}
	return text
}

// moment is a time within a recording, such as 1:02:03 or 2:03.
func moment(ns int64) string {
	d := time.Duration(ns).Truncate(time.Second)
	if h := d / time.Hour; h > 0 {
		return fmt.Sprintf("%d:%02d:%02d", h, d%time.Hour/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d:%02d", d/time.Minute, d%time.Minute/time.Second)
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n < 1e6:
		return fmt.Sprintf("%d kB", (n+999)/1000)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

func (s *shell) recordingsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "recordings",
		Short: "List, read, export and delete what was recorded",
		Long: "List, read, export and delete what was recorded. Exports leave out what was removed or masked in the console.\n" +
			"With an agent's key (DESKBELL_KEY) instead of an operator's session, show and export read what the operator\n" +
			"gave that agent with an answer.",
	}
	c.AddCommand(s.recordingsListCommand(), s.recordingsShowCommand(), s.recordingsExportCommand(), s.recordingsDeleteCommand())
	return c
}

func (s *shell) recordingsListCommand() *cobra.Command {
	var op, cursor string
	var limit int
	c := &cobra.Command{
		Use: "list", Short: "List recordings, the newest first", Args: cobra.NoArgs,
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			page, err := operator.Recordings(ctx, human.OperationID(op), limit, cursor)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(page)
			}
			if len(page.Recordings) == 0 {
				s.note("There are no recordings.")
				return nil
			}
			w := s.columns()
			for _, r := range page.Recordings {
				w.row("%s\t%s\t%s\t%s\n", visible(string(r.ID)), visible(string(r.OperationID)),
					r.StartedAt.Local().Format(time.DateTime), visible(standing(r)))
			}
			if page.Next != "" {
				s.note("There are more: --cursor %s", visible(page.Next))
			}
			return w.flush()
		}),
	}
	c.Flags().StringVar(&op, "operation", "", "only those of this operation")
	c.Flags().IntVar(&limit, "limit", 0, "at most this many (default: 50)")
	c.Flags().StringVar(&cursor, "cursor", "", "continue where the previous page ended")
	return s.operatorFlags(c, "print the page as one line of JSON")
}

// reader is a client of whoever may read recordings: an operator, or, without a session, an agent.
func (s *shell) reader(ctx context.Context) (*client.Client, error) {
	if s.oneTime == "" && os.Getenv("DESKBELL_KEY") != "" && !s.signedIn(ctx) {
		return s.agent()
	}
	return s.operator(ctx)
}

func languageFlag(c *cobra.Command, language *string) {
	c.Flags().StringVar(language, "language", "en", "of the words: en or zh-CN")
}

func (s *shell) recordingsShowCommand() *cobra.Command {
	var language string
	c := &cobra.Command{
		Use: "show RECORDING", Short: "Show what was done in a recording, step by step", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			reader, err := s.reader(c.Context())
			if err != nil {
				return err
			}
			id := human.RecordingID(args[0])
			r, err := reader.Recording(c.Context(), id)
			if err != nil {
				return err
			}
			found, err := reader.Actions(c.Context(), id, language, "")
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(struct {
					Recording human.Recording `json:"recording"`
					Actions   []human.Action  `json:"actions"`
				}{r, found.Actions})
			}
			return s.showRecording(r, found.Actions)
		},
	}
	languageFlag(c, &language)
	return s.operatorFlags(c, "print the recording and its actions as one line of JSON")
}

func (s *shell) showRecording(r human.Recording, actions []human.Action) error {
	if err := s.recorded(r, nil); err != nil {
		return err
	}
	s.printf("by %s on %s, %s\n", visible(r.By), visible(r.System), r.StartedAt.Local().Format(time.DateTime))
	for _, source := range r.Sources {
		if source.Status == "partial" || source.Status == "missing" {
			s.printf("%s: %s. %s\n", visible(string(source.Source)), visible(source.Status), oneLine(source.Detail, 200))
		} else if source.Detail != "" {
			s.printf("%s: %s\n", visible(string(source.Source)), oneLine(source.Detail, 200))
		}
	}
	for _, g := range r.Gaps {
		s.printf("gap from %s to %s: %s\n", moment(g.From), moment(g.To), visible(g.Reason))
	}
	w := s.columns()
	for _, a := range actions {
		var marks []string
		if a.Step != nil {
			marks = append(marks, fmt.Sprintf("step %d", *a.Step+1))
		}
		if a.Cut {
			marks = append(marks, "cut")
		}
		if a.Masked {
			marks = append(marks, "masked")
		}
		line := oneLine(a.Words, 200)
		if len(marks) > 0 {
			line += "  (" + strings.Join(marks, ", ") + ")"
		}
		w.row("  %s\t%s\t%s\n", moment(a.At), visible(a.ID), line)
	}
	return w.flush()
}

func (s *shell) recordingsExportCommand() *cobra.Command {
	var language, format, to string
	c := &cobra.Command{
		Use:   "export RECORDING",
		Short: "Write a recording to a file, without what was removed or masked",
		Long: "Write a recording to a file: one page of HTML with everything in it, a zip of Markdown, pictures\n" +
			"and the files attached to the request and the answer, or JSON.\n" +
			"Without --output the file is written into this folder, under a new name.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if to == "-" && format != "json" && isTerminal(s.out) {
				return human.Errorf(human.Invalid, "standard output is a terminal; say where to with --output")
			}
			reader, err := s.reader(c.Context())
			if err != nil {
				return err
			}
			from, err := reader.Export(c.Context(), human.RecordingID(args[0]), format, language)
			if err != nil {
				return err
			}
			if err := s.limits(c.Context(), reader, human.RecordingID(args[0]), format); err != nil {
				return err
			}
			defer from.Close() //nolint:errcheck // it was read
			if to == "-" {
				return s.pass(from, format)
			}
			return s.saved(save(from, to))
		},
	}
	c.Flags().StringVar(&format, "format", "html", "html, markdown or json; of a browser's recording also playwright, puppeteer, selenium, cypress, har or rrweb")
	c.Flags().StringVarP(&to, "output", "o", "", "the `FILE` to write, also over an existing one; - is standard output")
	languageFlag(c, &language)
	return s.operatorFlags(c, "print the file's name and size as one line of JSON")
}

// limits says what a format cannot say of a recording.
func (s *shell) limits(ctx context.Context, reader *client.Client, id human.RecordingID, format string) error {
	offers, err := reader.Exports(ctx, id)
	if err != nil {
		return err
	}
	for _, o := range offers {
		for _, said := range o.Says {
			if o.Format == format {
				s.note("%s", visible(said.Text))
			}
		}
	}
	return nil
}

// pass writes an export to standard output. JSON, which a terminal may show, is spelled so that it does
// nothing to one.
func (s *shell) pass(from io.Reader, format string) error {
	if format != "json" {
		_, err := io.Copy(s.out, from)
		return err
	}
	text, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(text) { // strings in JSON have no line breaks
		if _, err := s.out.Write(append(escapeJSON(bytes.TrimSuffix(line, []byte("\n"))), '\n')); err != nil {
			return err
		}
	}
	return nil
}

// save writes an export to a file, all of it or nothing: to the path, or under its own name where that
// is "", in this folder, where it takes no other file's place.
func save(from client.Exported, path string) (_ string, n int64, err error) {
	if path == "" {
		path = filepath.Base(from.Name)
		if path == "." || path == string(filepath.Separator) {
			path = "recording"
		}
		if _, err := os.Lstat(path); err == nil {
			return "", 0, human.Errorf(human.Conflict, "%s is there already; say where to with --output", path)
		}
	}
	if n, err = disk.Replace(path, from, 0o600); err != nil {
		return "", 0, human.Wrap(human.Unavailable, err, "the export arrived incomplete, and nothing was written: %v", err)
	}
	return path, n, nil
}

// saved prints where an export is.
func (s *shell) saved(path string, n int64, err error) error {
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(struct {
			File  string `json:"file"`
			Bytes int64  `json:"bytes"`
		}{path, n})
	}
	s.printf("%s\n", visible(path))
	return nil
}

func (s *shell) recordingsDeleteCommand() *cobra.Command {
	return s.operatorFlags(&cobra.Command{
		Use: "delete RECORDING", Short: "Delete a recording that has ended, for good", Args: cobra.ExactArgs(1),
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			id := human.RecordingID(args[0])
			return s.told(id, "deleted", operator.DeleteRecording(ctx, id))
		}),
	}, "print one line of JSON")
}

// told prints what was done with a recording.
func (s *shell) told(id human.RecordingID, how string, err error) error {
	if err != nil {
		return err
	}
	if s.json {
		return s.printJSON(struct {
			ID    human.RecordingID `json:"recording_id"`
			State string            `json:"state"`
		}{id, how})
	}
	s.printf("%s %s\n", visible(string(id)), how)
	return nil
}
