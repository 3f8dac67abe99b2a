package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"deskbell/backend/human"
	"deskbell/backend/record/library"
	"deskbell/backend/transport/client"
)

func (s *shell) historyCommand() *cobra.Command {
	c := &cobra.Command{Use: "history", Short: "Export what agents asked for, and how it ended, and import that of another Deskbell", Args: cobra.NoArgs}
	c.AddCommand(s.historyExportCommand(), s.historyImportCommand())
	return c
}

func (s *shell) historyExportCommand() *cobra.Command {
	var f client.Filter
	var days int
	var recordings bool
	var kind, format, to, since, until string
	c := &cobra.Command{
		Use:   "export",
		Short: "Write requests and their answers to a file, the newest first",
		Long: "Write requests and their answers to a file, the newest first: JSON Lines with all that is known of each, or a table for\n" +
			"spreadsheets. Without --output the file is written into this folder, under a new name. With --with-recordings it is a folder: history.jsonl\n" +
			"or history.csv, and for each recording a folder with its events, its actions as a table, and its pictures as they are shared: without\n" +
			"what you removed, and with your masks. Nothing is overwritten.",
		Args: cobra.NoArgs,
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, _ []string) error {
			if to == "-" && format == "csv" && isTerminal(s.out) {
				return human.Errorf(human.Invalid, "standard output is a terminal; say where to with --output")
			}
			if days < 0 {
				return human.Errorf(human.Invalid, "--days is %d; it must be 0 or more", days)
			}
			if recordings && (to == "" || to == "-") {
				return human.Errorf(human.Invalid, "recordings are written into a folder; name a new one with --output")
			}
			from, err := dayOf("--since", since)
			if err != nil {
				return err
			}
			before, err := dayOf("--until", until)
			if err != nil {
				return err
			}
			f.Kind = human.Kind(kind)
			if to != "" && to != "-" {
				if _, err := os.Lstat(to); err == nil {
					return human.Errorf(human.Conflict, "%s is there already; say where to with --output", to)
				}
			}
			file, err := operator.ExportHistory(ctx, f, days, from, before, format)
			if err != nil {
				return err
			}
			defer file.Close() //nolint:errcheck // it was read
			switch {
			case to == "-":
				return s.passLines(file, format)
			case recordings:
				return s.saved(exportFolder(ctx, operator, file, format, to))
			}
			return s.saved(save(file, to))
		}),
	}
	c.Flags().StringVar(&format, "format", "jsonl", "jsonl or csv")
	c.Flags().StringVarP(&to, "output", "o", "", "the new `FILE` or folder to write; - is standard output")
	c.Flags().BoolVar(&recordings, "with-recordings", false, "write a folder, with the recordings of these requests")
	c.Flags().IntVar(&days, "days", 0, "only requests of the last so many days, today included")
	c.Flags().StringVar(&since, "since", "", "only requests from this `DAY` on, such as 2026-11-28")
	c.Flags().StringVar(&until, "until", "", "only requests before this `DAY`")
	c.Flags().StringVar(&f.AgentID, "agent", "", "only those of this agent")
	c.Flags().StringVarP(&kind, "type", "t", "", "only those of this type")
	c.Flags().StringVar(&f.Text, "text", "", "only those with all these words")
	return s.operatorFlags(c, "print the file's name and size as one line of JSON")
}

func (s *shell) historyImportCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Add an exported history of another Deskbell",
		Long: "Add finished requests of another Deskbell to the history: of a file of JSON Lines that `deskbell history export` wrote, or of its folder.\n" +
			"They are marked as imported, and nothing changes them any more. Those whose ids are known are skipped, and so are\n" +
			"requests that are still open. With a bad line nothing is imported. Receipts, recordings and files stay where they were.",
		Args: cobra.ExactArgs(1),
		RunE: s.asOperator(func(ctx context.Context, operator *client.Client, args []string) error {
			path := args[0]
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				path = filepath.Join(path, "history.jsonl")
			}
			f, err := os.Open(path)
			if err != nil {
				return human.Wrap(human.Invalid, err, "%s cannot be read: %v", path, err)
			}
			defer f.Close() //nolint:errcheck // it was read
			done, err := importLines(ctx, operator, f)
			if err != nil {
				return err
			}
			if s.json {
				return s.printJSON(done)
			}
			s.printf("Imported: %d. Skipped, as they are known here: %d; as they are still open: %d.\n", done.Imported, done.There, done.Open)
			return nil
		}),
	}
	return s.operatorFlags(c, "print how many were imported and skipped as one line of JSON")
}

// Of the lines that are imported at once, and of one.
const (
	importedLines = 100
	importedBytes = 1 << 20
	importedLine  = 4<<20 - 4096 // what a call takes, with the file's name
)

// An importing is what came of the lines of a file.
type importing struct {
	human.ImportResult
	Open int `json:"open"` // skipped
}

// importLines reads a file twice: all lines are looked at before the first is imported.
func importLines(ctx context.Context, operator *client.Client, f *os.File) (done importing, err error) {
	open := map[int]bool{}
	err = eachLine(f, func(n int, line []byte) error {
		_, err := human.ReadExported(line)
		if errors.Is(err, human.ErrOpen) {
			open[n] = true
			done.Open++
			return nil
		}
		if err == nil && len(asSent(line)) > importedLine {
			err = human.Errorf(human.Invalid, "it has more than %d bytes", importedLine)
		}
		if err != nil {
			return human.Wrap(human.Invalid, err, "line %d of %s: %s. Nothing was imported; correct the line, or delete it", n, f.Name(), human.Inner{Err: err})
		}
		return nil
	})
	if err != nil {
		return done, err
	}
	var lines []json.RawMessage
	bytes := 0
	send := func() error {
		if len(lines) == 0 {
			return nil
		}
		some, err := operator.ImportHistory(ctx, filepath.Base(f.Name()), lines)
		done.Imported, done.There = done.Imported+some.Imported, done.There+some.There
		lines, bytes = nil, 0
		return err
	}
	err = eachLine(f, func(n int, line []byte) error {
		if open[n] {
			return nil
		}
		line = asSent(line)
		if len(lines) == importedLines || bytes+len(line) > importedBytes {
			if err := send(); err != nil {
				return err
			}
		}
		lines, bytes = append(lines, line), bytes+len(line)
		return nil
	})
	if err != nil {
		return done, err
	}
	err = send()
	return done, err
}

// asSent is a line of JSON as a call has it.
func asSent(line []byte) []byte {
	text, err := json.Marshal(json.RawMessage(line))
	if err != nil {
		return line // it is none
	}
	return text
}

// eachLine reads a file from its beginning, without lines that are empty.
func eachLine(f *os.File, do func(n int, line []byte) error) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return human.Wrap(human.Invalid, err, "%s cannot be read: %v", f.Name(), err)
	}
	lines := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return human.Wrap(human.Invalid, err, "%s cannot be read: %v", f.Name(), err)
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if err := do(n, text); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// dayOf is when a day of a flag begins here; the zero time for none.
func dayOf(flag, day string) (time.Time, error) {
	if day == "" {
		return time.Time{}, nil
	}
	at, err := time.ParseInLocation(time.DateOnly, day, time.Local)
	if err != nil {
		return at, human.Errorf(human.Invalid, "%s is %s; write a day like 2026-11-28", flag, day)
	}
	return at, nil
}

// exportFolder writes a history and its recordings into a new folder. It is there as a whole, or not at all.
func exportFolder(ctx context.Context, operator *client.Client, history io.Reader, format, to string) (_ string, _ int64, err error) {
	to = filepath.Clean(to)
	part, err := os.MkdirTemp(filepath.Dir(to), "."+filepath.Base(to)+"-")
	if err == nil {
		defer func() { err = errors.Join(err, os.RemoveAll(part)) }()
		e := exporting{operator: operator, dir: part, ops: map[human.OperationID]bool{}}
		if err = e.history(history, format); err == nil {
			err = e.recordings(ctx)
		}
		if err == nil {
			err = os.Rename(part, to)
		}
		if err == nil {
			return to, e.bytes, nil
		}
	}
	return "", 0, human.Wrap(human.Unavailable, err, "the export is incomplete, and nothing was written: %v", err)
}

// An exporting is an export into a folder.
type exporting struct {
	operator *client.Client
	dir      string
	ops      map[human.OperationID]bool // those in the history
	bytes    int64
}

// file writes a file of the export; name has slashes.
func (e *exporting) file(name string, write func(io.Writer) error) error {
	path := filepath.Join(e.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	to := bufio.NewWriter(f)
	err = errors.Join(write(to), to.Flush())
	if info, statErr := f.Stat(); statErr == nil {
		e.bytes += info.Size()
	}
	return errors.Join(err, f.Close())
}

// history writes the file of requests, and notes which those are.
func (e *exporting) history(from io.Reader, format string) error {
	return e.file("history."+format, func(w io.Writer) error {
		from = io.TeeReader(from, w)
		if format == "csv" {
			for rows := csv.NewReader(from); ; {
				row, err := rows.Read()
				if err != nil {
					return unlessEnd(err)
				}
				e.ops[human.OperationID(row[0])] = true
			}
		}
		for ops := json.NewDecoder(from); ; {
			var op struct {
				ID human.OperationID `json:"operation_id"`
			}
			if err := ops.Decode(&op); err != nil {
				return unlessEnd(err)
			}
			e.ops[op.ID] = true
		}
	})
}

func unlessEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// recordings writes those of the requests in the history.
func (e *exporting) recordings(ctx context.Context) error {
	for cursor := ""; ; {
		page, err := e.operator.Recordings(ctx, "", 100, cursor)
		if err != nil {
			return err
		}
		for _, r := range page.Recordings {
			if !e.ops[r.OperationID] || r.Running() {
				continue
			}
			if err := e.recording(ctx, r); err != nil && human.KindOf(err) != human.NotFound { // it may be deleted meanwhile
				return err
			}
		}
		if cursor = page.Next; cursor == "" {
			return nil
		}
	}
}

func (e *exporting) recording(ctx context.Context, r human.Recording) error {
	in := "recordings/" + filepath.Base(string(r.ID)) + "/"
	if err := e.file(in+"recording.json", func(w io.Writer) error { return json.NewEncoder(w).Encode(r) }); err != nil || r.Removed != nil {
		return err
	}
	done, err := e.operator.Actions(ctx, r.ID, "en", "")
	if err != nil {
		return err
	}
	hidden := hiddenEvents(done.Actions)
	shown := slices.DeleteFunc(done.Actions, func(a human.Action) bool { return a.Cut })
	if err := e.file(in+"actions.csv", func(w io.Writer) error { return actionRows(w, shown) }); err != nil {
		return err
	}
	pictures := map[string]bool{}
	for _, a := range shown {
		pictures[a.Before], pictures[a.After] = true, true
	}
	if err := e.file(in+"events.jsonl", func(w io.Writer) error { return e.events(ctx, w, r.ID, hidden) }); err != nil || r.PicturesRemoved != nil {
		return err
	}
	delete(pictures, "")
	for _, id := range slices.Sorted(maps.Keys(pictures)) {
		png, err := e.operator.Picture(ctx, r.ID, id, library.Look{Format: "png", Masked: true})
		if err == nil {
			err = e.file(in+"pictures/"+filepath.Base(id)+".png", func(w io.Writer) error { _, err := io.Copy(w, bytes.NewReader(png)); return err })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hiddenEvents says which events belong to what the operator removed or masked: those that it was derived from, and all until the next
// action.
func hiddenEvents(all []human.Action) func(human.RecordedEvent) bool {
	type stretch struct{ from, to int64 }
	var times []stretch
	seqs := map[uint64]bool{}
	for i, a := range all {
		if !a.Cut && !a.Masked {
			continue
		}
		t := stretch{a.At, math.MaxInt64}
		if i+1 < len(all) {
			t.to = all[i+1].At
		}
		times = append(times, t)
		for _, seq := range a.Seqs {
			seqs[seq] = true
		}
	}
	return func(ev human.RecordedEvent) bool {
		return seqs[ev.Seq] || slices.ContainsFunc(times, func(t stretch) bool { return ev.At >= t.from && ev.At < t.to })
	}
}

// events writes the raw events of a recording, but for those that are hidden.
func (e *exporting) events(ctx context.Context, w io.Writer, id human.RecordingID, hidden func(human.RecordedEvent) bool) error {
	lines := json.NewEncoder(w)
	for after := uint64(0); ; {
		page, err := e.operator.Events(ctx, id, after)
		if err != nil {
			return err
		}
		for _, ev := range page.Events {
			if hidden(ev) {
				continue
			}
			if err := lines.Encode(ev); err != nil {
				return err
			}
		}
		if after = page.Next; after == 0 {
			return nil
		}
	}
}

// actionRows writes a table of actions.
func actionRows(w io.Writer, all []human.Action) error {
	t := csv.NewWriter(w)
	_ = t.Write([]string{"action_id", "type", "at", "words", "text", "app", "window", "page", "before", "after"}) // Error says what went wrong
	for _, a := range all {
		row := []string{a.ID, string(a.Type), time.Duration(a.At).String(), a.Words, a.Text, "", "", "", a.Before, a.After}
		if a.App != nil {
			row[5] = a.App.Name
		}
		if a.Window != nil {
			row[6] = a.Window.Title
		}
		if a.Page != nil {
			row[7] = a.Page.URL
		}
		_ = t.Write(human.Cells(row))
	}
	t.Flush()
	return t.Error()
}

// passLines writes an export to standard output as it arrives. JSON, which a terminal may show, is spelled so that it does nothing
// to one.
func (s *shell) passLines(from io.Reader, format string) error {
	if format == "csv" {
		_, err := io.Copy(s.out, from)
		return cutShort(err)
	}
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return cutShort(err)
		}
		if _, err := s.out.Write(append(escapeJSON(line[:len(line)-1]), '\n')); err != nil {
			return err
		}
	}
}

func cutShort(err error) error {
	if err == nil {
		return nil
	}
	return human.Wrap(human.Unavailable, err, "the export arrived incomplete: %v", err)
}
