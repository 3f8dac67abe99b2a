package agent

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"deskbell/backend/human"
)

// A masker hides secrets in what is kept and told, and notes whether it hid any.
type masker struct {
	mask func(string) (string, bool)
	hid  bool
}

func (m *masker) text(s *string) {
	if *s == "" {
		return
	}
	masked, hid := m.mask(*s)
	if hid {
		*s, m.hid = masked, true
	}
}

// args masks each text in a JSON value; one that is no JSON is masked as a text.
func (m *masker) args(raw *json.RawMessage) {
	if len(*raw) == 0 {
		return
	}
	// The whole first: it may take a name and a value together to tell a secret.
	whole := string(*raw)
	if m.text(&whole); whole == string(*raw) {
		return
	}
	d := json.NewDecoder(bytes.NewReader(*raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) == nil {
		if out, err := json.Marshal(m.value(v)); err == nil {
			if still := string(out); !m.finds(still) {
				*raw = out
				return
			}
		}
	}
	*raw, _ = json.Marshal(map[string]string{"masked": whole}) // of strings: cannot fail
}

func (m *masker) finds(s string) bool {
	_, hid := m.mask(s)
	return hid
}

func (m *masker) value(v any) any {
	switch v := v.(type) {
	case string:
		m.text(&v)
		return v
	case []any:
		for i := range v {
			v[i] = m.value(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = m.value(v[k])
		}
	}
	return v
}

func (m *masker) task(t *human.Task) {
	m.text(&t.Description)
	m.text(&t.ExpectedOutcome)
	m.args(&t.Args)
}

func (m *masker) taskList(list []human.Task) []human.Task {
	list = slices.Clone(list)
	for i := range list {
		m.task(&list[i])
	}
	return list
}

func (m *masker) runs(list []human.TaskRun) []human.TaskRun {
	list = slices.Clone(list)
	for i := range list {
		m.task(&list[i].Task)
		m.text(&list[i].Note)
	}
	return list
}

func (m *masker) confirmation(c Confirmation) *Confirmation {
	c.Tasks = m.taskList(c.Tasks)
	m.text(&c.Message)
	c.Changes = slices.Clone(c.Changes)
	for i := range c.Changes {
		m.text(&c.Changes[i].Description)
		c.Changes[i].Fields = slices.Clone(c.Changes[i].Fields)
		for f := range c.Changes[i].Fields {
			m.text(&c.Changes[i].Fields[f].Was)
			m.text(&c.Changes[i].Fields[f].Is)
		}
	}
	if c.Summary != nil {
		s := *c.Summary
		s.Tasks = slices.Clone(s.Tasks)
		for i := range s.Tasks {
			m.text(&s.Tasks[i].Description)
			m.text(&s.Tasks[i].ExpectedOutcome)
			s.Tasks[i].Effects = slices.Clone(s.Tasks[i].Effects)
			for e := range s.Tasks[i].Effects {
				m.text(&s.Tasks[i].Effects[e].Resource)
				m.text(&s.Tasks[i].Effects[e].Target)
			}
		}
		c.Summary = &s
	}
	return &c
}

func (m *masker) update(u Update) *Update {
	m.text(&u.Content)
	m.text(&u.Call)
	u.Said = slices.Clone(u.Said)
	for i := range u.Said {
		m.text(&u.Said[i].Text)
		u.Said[i].Params = maps.Clone(u.Said[i].Params)
		for name, value := range u.Said[i].Params {
			m.text(&value)
			u.Said[i].Params[name] = value
		}
	}
	if u.Plan != nil {
		u.Plan = m.confirmation(*u.Plan)
	}
	return &u
}

func (m *masker) turn(t Turn) *Turn {
	m.text(&t.Text)
	t.Calls, t.Results = slices.Clone(t.Calls), slices.Clone(t.Results)
	for i := range t.Calls {
		m.args(&t.Calls[i].Args)
	}
	for i := range t.Results {
		m.text(&t.Results[i].Text)
	}
	if len(t.Kept) > 0 && m.finds(string(t.Kept)) {
		t.Kept, m.hid = nil, true // it is the provider's, often signed: there is no masking a part of it
	}
	return &t
}

// record returns what may be kept of a record. The one given stays as it is.
func (m *masker) record(rec Record) Record {
	m.text(&rec.Text)
	if rec.Run != nil {
		info := *rec.Run
		m.text(&info.Task)
		rec.Run = &info
	}
	if rec.Update != nil {
		rec.Update = m.update(*rec.Update)
	}
	if rec.Turn != nil {
		rec.Turn = m.turn(*rec.Turn)
	}
	if rec.Proposal != nil {
		p := *rec.Proposal
		p.Tasks = m.taskList(p.Tasks)
		m.text(&p.Message)
		m.text(&p.Why)
		rec.Proposal = &p
	}
	if rec.Plan != nil {
		rec.Plan = m.confirmation(*rec.Plan)
	}
	if rec.Doing != nil {
		t := *rec.Doing
		m.task(&t)
		rec.Doing = &t
	}
	if rec.Progress != nil {
		p := *rec.Progress
		m.text(&p.Note)
		rec.Progress = &p
	}
	rec.Tasks = m.runs(rec.Tasks)
	if rec.Use != nil {
		use := *rec.Use
		m.args(&use.Args)
		rec.Use = &use
	}
	if rec.Done != nil {
		d := *rec.Done
		m.text(&d.Text)
		rec.Done = &d
	}
	if rec.Result != nil {
		res := *rec.Result
		m.text(&res.Message)
		m.text(&res.Prompt)
		res.Tasks = m.runs(res.Tasks)
		rec.Result = &res
	}
	if rec.Cut != nil && rec.Cut.Note != nil {
		cut, note := *rec.Cut, *rec.Cut.Note
		m.text(&note.Goal)
		for _, sort := range note.sorts() {
			*sort.list = slices.Clone(*sort.list)
			for i := range *sort.list {
				m.text(&(*sort.list)[i])
			}
		}
		cut.Note, rec.Cut = &note, &cut
	}
	rec.Masked = m.hid
	return rec
}
