package api

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"
	_ "time/tzdata" // Windows has no time zones by name

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/record/library"
)

type (
	// CountedInput selects by what statistics count.
	CountedInput struct {
		Project string     `query:"project" maxLength:"200" doc:"Only requests of this project (context.project, else context.cwd); - for those that name none."`
		Risk    human.Risk `query:"risk" enum:"low,medium,high,critical,-" doc:"Only requests with this risk; - for those that state none."`
		End     queue.End  `query:"end" enum:"completed,denied,declined,cancelled,timeout,open" doc:"Only those that ended like this."`
		Days    int        `query:"days" minimum:"0" maximum:"3660" doc:"Only requests of the last so many days, today included; from and to count before it."`
		From    time.Time  `query:"from" doc:"Only requests at or after this time."`
		To      time.Time  `query:"to" doc:"Only requests before this time."`
		Hour    int        `query:"hour" minimum:"0" maximum:"168" doc:"Only requests in this hour of the week: 1 is Monday 0:00 to 1:00, 168 Sunday 23:00 to 24:00."`
		Zone    string     `query:"zone" maxLength:"64" doc:"The time zone of days and hours: a name like Europe/Berlin, or an offset like +02:00; absent: UTC."`
	}
	statisticsInput struct {
		Kind    human.Kind `query:"action_type"`
		AgentID string     `query:"agent_id"`
		CountedInput
	}
	// ImportRequest has operations of another Deskbell.
	ImportRequest struct {
		From       string            `json:"from" maxLength:"200" doc:"The name of the file that they come from."`
		Operations []json.RawMessage `json:"operations" minItems:"1" maxItems:"100" doc:"Lines of an exported history."`
	}
	historyInput struct {
		Format string `query:"format" enum:"jsonl,csv" doc:"JSON Lines (absent), or a table for spreadsheets."`
		ListInput
	}
)

// zoneOf is the time zone asked for.
func zoneOf(name string) (*time.Location, error) {
	if at, err := time.Parse("-07:00", name); err == nil {
		_, offset := at.Zone()
		return time.FixedZone(name, offset), nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, human.BadField("zone", "%q is not a time zone that is known here; send an offset like +02:00", name)
	}
	return zone, nil
}

// add selects by it, too.
func (in *CountedInput) add(f *queue.Filter, now time.Time) error {
	zone, err := zoneOf(in.Zone)
	if err != nil {
		return err
	}
	f.Project, f.Risk, f.End = in.Project, in.Risk, in.End
	if in.Days > 0 {
		f.When = queue.Days(in.Days, now, zone)
	}
	if !in.From.IsZero() {
		f.When.From = in.From
	}
	if !in.To.IsZero() {
		f.When.To = in.To
	}
	f.When.Hour, f.When.Zone = in.Hour, zone
	return nil
}

func (s *Server) statistics(c catalogue) {
	add(c, route{http.MethodGet, "/api/statistics", "getStatistics", "Requests, times, approvals and interruptions: by kind, agent, project, risk, day and hour of the week", operators, 0},
		func(ctx context.Context, x *exchange, in *statisticsInput) (*answer[*queue.HistoryStatistics], error) {
			f := queue.Filter{Kind: in.Kind, AgentID: in.AgentID}
			if in.Days == 0 && in.From.IsZero() {
				in.Days = 30
			}
			if err := in.add(&f, s.deps.Now()); err != nil {
				return nil, err
			}
			st, err := s.deps.Queue.Statistics(ctx, x.by, f)
			return ok(&st, err)
		})
	add(c, route{http.MethodGet, "/api/human/export", "exportOperations", "The operations of a list, all pages, as a file", operators, 0}, s.exportOperations)
	add(c, toHuman("import", "importOperations", "Add operations that ended in another Deskbell to the history, marked as such; those whose ids are known are skipped", operators),
		func(ctx context.Context, x *exchange, in *payload[ImportRequest]) (*answer[*human.ImportResult], error) {
			var ops []human.Operation
			for i, line := range in.JSON.Operations {
				op, err := human.ReadExported(line)
				if err != nil {
					return nil, human.BadField("operations", "number %d: %s", i+1, human.Inner{Err: err})
				}
				ops = append(ops, op)
			}
			done, err := s.deps.Queue.Import(context.WithoutCancel(ctx), x.by, in.JSON.From, ops)
			return ok(&done, err)
		})
	op := c.api.OpenAPI().Paths["/api/human/export"].Get
	op.Responses["200"] = &huma.Response{Description: "The file.", Content: map[string]*huma.MediaType{
		"application/x-ndjson": {Schema: &huma.Schema{Type: huma.TypeString}}, "text/csv": {Schema: &huma.Schema{Type: huma.TypeString}},
	}}
}

// exportOperations answers with a file, written while the list is read.
func (s *Server) exportOperations(ctx context.Context, x *exchange, in *historyInput) (*stream, error) {
	f, err := in.filter(s.deps.Now())
	if err != nil {
		return nil, err
	}
	f.Limit, f.Cursor = queue.MaxPage, ""
	first, err := s.deps.Queue.List(ctx, x.by, f)
	if err != nil {
		return nil, err
	}
	e := library.Export{Name: "deskbell-history-" + s.deps.Now().UTC().Format(time.DateOnly) + ".jsonl", Media: "application/x-ndjson"}
	begin := jsonLines
	if in.Format == "csv" {
		e.Name, e.Media, begin = strings.TrimSuffix(e.Name, "jsonl")+"csv", "text/csv; charset=utf-8", table
	}
	return &stream{func(hc huma.Context) {
		r, w := humago.Unwrap(hc)
		file := &fileWriter{ResponseWriter: w, export: e}
		file.begin()
		write := begin(file)
		if in.Format != "csv" {
			write = s.whole(ctx, x.by, write)
		}
		for page := first; ; {
			if err = write(page.Operations); err != nil || page.Next == "" {
				break
			}
			f.Cursor = page.Next
			if page, err = s.deps.Queue.List(ctx, x.by, f); err != nil {
				break
			}
		}
		if err != nil {
			s.note(ctx, r.Method, r.URL.Path, err)
			panic(http.ErrAbortHandler) // the caller must not take what it got for the whole
		}
	}}, nil
}

// whole has each operation written with its details and context, which lists leave out.
func (s *Server) whole(ctx context.Context, by human.Actor, write func([]human.Operation) error) func([]human.Operation) error {
	return func(ops []human.Operation) error {
		for _, brief := range ops {
			op, err := s.deps.Queue.Get(ctx, by, brief.ID)
			if human.KindOf(err) == human.NotFound {
				continue // it was removed meanwhile
			}
			if err == nil {
				err = write([]human.Operation{op.Named()})
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// jsonLines writes an operation a line, without drafts: those were not sent.
func jsonLines(w io.Writer) func([]human.Operation) error {
	return func(ops []human.Operation) error {
		for _, op := range ops {
			op.Draft, op.Drafts, op.Leaving = nil, nil, nil
			line, err := json.Marshal(op)
			if err != nil {
				return err
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		return nil
	}
}

// table writes an operation a row, after a row with the columns' names.
func table(w io.Writer) func([]human.Operation) error {
	t := csv.NewWriter(w)
	begun := false
	return func(ops []human.Operation) error {
		if !begun {
			begun = true
			_ = t.Write([]string{"operation_id", "requested", "ended", "kind", "agent", "session", "risk", "description", "end", "overdue", "by",
				"human_input", "execution_result", "summary", "key_findings", "reason"}) // Flush says what went wrong
		}
		for _, op := range ops {
			row := []string{string(op.ID), stamp(op.CreatedAt), stamp(op.EndedAt()), string(op.Kind), op.AgentID, op.SessionID, string(op.Risk), op.Description,
				string(queue.EndOf(op)), map[bool]string{true: "yes", false: "no"}[op.Overdue], "", "", "", "", "", ""}
			if r := op.Result; r != nil {
				copy(row[10:], []string{r.By.Name, r.HumanInput, r.ExecutionResult, r.Summary, strings.Join(r.KeyFindings, "\n")})
			} else if op.Ended != nil {
				row[10], row[15] = op.Ended.By.Name, op.Ended.Reason
			}
			_ = t.Write(human.Cells(row))
		}
		t.Flush()
		return t.Error()
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
