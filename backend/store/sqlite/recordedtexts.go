package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"deskbell/backend/human"
)

// Bounds of what is indexed of one recording, in bytes.
const (
	recordedText = 64 << 10
	momentText   = 300
)

// An instant is when something in a recording had a name.
type instant struct {
	At   int64 // nanoseconds from its start
	Text string
}

// MarshalJSON writes [at, text].
func (m instant) MarshalJSON() ([]byte, error) { return json.Marshal([]any{m.At, m.Text}) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *instant) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&m.At, &m.Text})
}

// momentOf is what an event of a recording is found by: what windows, pages, elements, files and commands are called, and the
// operator's notes. What was typed is left out; that text stands in the recording alone.
func momentOf(e human.RecordedEvent) string {
	if e.Hidden != "" {
		return ""
	}
	var parts []string
	add := func(texts ...string) {
		for _, t := range texts {
			if t = human.OneLine(t, momentText); t != "" {
				parts = append(parts, t)
			}
		}
	}
	switch {
	case e.Type == human.Marked || e.Type == human.PageMessage || strings.HasPrefix(string(e.Type), "command"):
		add(e.Text)
	case e.Type == human.PageDOM, e.Type == human.PageRequest, e.Type == human.PageAnswer, e.Type == human.PageConsole:
		return ""
	}
	if e.App != nil {
		add(e.App.Name)
	}
	if e.Window != nil {
		add(e.Window.Title)
	}
	if e.Page != nil {
		add(e.Page.Title, e.Page.URL)
	}
	if e.Element != nil && e.Element.Hidden == "" && !e.Element.Secret {
		add(e.Element.Name)
	}
	if e.File != nil {
		add(e.File.Path, e.File.To)
	}
	for _, t := range e.Transfers {
		add(t.Name)
	}
	if e.Dialog != nil {
		add(e.Dialog.Message)
	}
	return strings.Join(parts, " · ")
}

// index makes a recording that has ended findable. Called again it starts over.
func (r Recordings) index(ctx context.Context, id human.RecordingID) error {
	var moments []instant
	var body strings.Builder
	last := ""
	for e, err := range r.Events(ctx, id, 0) {
		if err != nil {
			return err
		}
		text := momentOf(e)
		if text == "" || text == last {
			continue
		}
		if last = text; body.Len()+len(text) > recordedText {
			break
		}
		moments = append(moments, instant{e.At, text})
		body.WriteString(segment(text))
		body.WriteByte('\n')
	}
	data, err := json.Marshal(moments)
	if err != nil {
		return human.Wrap(human.Invalid, err, "recording %s cannot be written as JSON", id)
	}
	return r.store.do(ctx, func(ctx context.Context, w *writer) error {
		if _, err := w.conn.ExecContext(ctx, `DELETE FROM recorded_texts WHERE recording = (SELECT n FROM recordings WHERE recording_id = ?)`, id); err != nil {
			return err
		}
		_, err := w.conn.ExecContext(ctx, `INSERT INTO recorded_texts (recording, moments, body) SELECT n, ?, ? FROM recordings WHERE recording_id = ? AND running = 0`,
			string(data), body.String(), id)
		return err
	})
}

// indexOld makes recordings findable that ended before there was an index, or whose indexing was cut short.
func (r Recordings) indexOld(ctx context.Context) error {
	var ids []human.RecordingID
	err := r.store.rows(ctx, `SELECT recording_id FROM recordings WHERE running = 0 AND n NOT IN (SELECT recording FROM recorded_texts)`, nil, func(rows *sql.Rows) error {
		var id human.RecordingID
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	for _, id := range ids {
		if err == nil {
			err = r.index(ctx, id)
		}
		if human.KindOf(err) == human.Internal {
			err = nil // a damaged recording is not found by search; who opens it is told
		}
	}
	return err
}

// decisionBody is what a decision of the gatekeeper's is found by.
func decisionBody(call, agent, project string) string {
	return segment(human.FirstBytes(call, detailsText)) + "\n" + segment(agent) + "\n" + segment(project)
}

// indexOld indexes decisions from before there was an index of them.
func (w *writer) indexOld(ctx context.Context) error {
	return w.transact(ctx, func() error {
		if err := w.decided.load(ctx, w.conn); err != nil || len(w.decided.firsts) > 0 {
			return err
		}
		rows, err := w.reads.QueryContext(ctx, `SELECT n, call, agent_id, project FROM decisions ORDER BY n`)
		if err != nil {
			return err
		}
		return eachRow(rows, func(rows *sql.Rows) error {
			var n uint64
			var call, agent, project string
			if err := rows.Scan(&n, &call, &agent, &project); err != nil {
				return err
			}
			return w.decided.add(ctx, w.conn, n, decisionBody(call, agent, project))
		})
	})
}
