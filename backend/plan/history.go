package plan

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"deskbell/backend/human"
)

// How far back plans are looked at, and how alike they must be.
const (
	maxPast   = 500
	alikeness = 0.34
	mostAlike = 8
	mostUsual = 5
)

// past are the newest plans, as far as they were read: what was read once of a plan is read again only when it changed.
type past struct {
	mu    sync.Mutex
	known map[human.OperationID]record
}

// A record is what there is to learn from one plan.
type record struct {
	op      human.Operation // with its details
	tasks   []human.Task
	part    bool // one task of a plan
	changes []human.TaskChange
	words   map[string]bool
}

// records returns the newest plans, newest first.
func (s *Service) records(ctx context.Context) ([]record, error) {
	list, err := s.d.Queue.Recent(ctx, human.Plan, maxPast)
	if err != nil {
		return nil, err
	}
	s.past.mu.Lock()
	defer s.past.mu.Unlock()
	fresh := make(map[human.OperationID]record, len(list))
	all := make([]record, 0, len(list))
	for _, brief := range list {
		r, ok := s.past.known[brief.ID]
		if !ok || r.op.Version < brief.Version {
			op, err := s.d.Queue.Get(ctx, human.Actor{Role: human.System}, brief.ID)
			if err != nil {
				return nil, err
			}
			q, err := op.PlanQuestion()
			if err != nil {
				s.d.Log.Warn("an earlier plan cannot be read; nothing is learnt from it", "operation_id", brief.ID, "err", err)
				continue
			}
			r = record{op: op, tasks: q.Tasks, part: q.Of != "", words: wordsOf(op.Description, q.Tasks)}
			if op.Result != nil && op.Result.Plan != nil {
				r.changes = op.Result.Plan.Changes
			}
		}
		fresh[brief.ID] = r
		all = append(all, r)
	}
	s.past.known = fresh
	return all, nil
}

// wordsOf are the words of a plan by which it is compared with others: those of what it is for, and each task's tool.
func wordsOf(description string, tasks []human.Task) map[string]bool {
	words := map[string]bool{}
	add := func(text string) {
		for _, w := range splitWords(text) {
			words[w] = true
		}
	}
	add(description)
	for _, t := range tasks {
		add(t.Description)
		if t.Tool != "" {
			words["tool:"+strings.ToLower(t.Tool)] = true
		}
	}
	return words
}

// splitWords are the words of a text in lower case, without numbers; of Chinese, Japanese and Korean every character.
func splitWords(text string) []string {
	var words []string
	var b strings.Builder
	end := func() {
		if b.Len() > 2 {
			words = append(words, b.String())
		}
		b.Reset()
	}
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			end()
			words = append(words, string(r))
		case unicode.IsLetter(r):
			b.WriteRune(unicode.ToLower(r))
		default:
			end()
		}
	}
	end()
	return words
}

// alike is the share of words that two plans have in common, 0 to 1 (P. Jaccard's index).
func alike(a, b map[string]bool) float64 {
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 0
}

// History says what was decided for plans like this one (P9).
func (s *Service) History(ctx context.Context, by human.Actor, session string) (History, error) {
	h := History{Alike: []Past{}, Usual: []UsualChange{}, Presets: []Preset{}}
	op, err := s.find(ctx, by, session)
	if err != nil {
		return h, err
	}
	q, err := op.PlanQuestion()
	if err != nil {
		return h, err
	}
	all, err := s.records(ctx)
	if err != nil {
		return h, err
	}
	mine := wordsOf(op.Description, q.Tasks)
	var near []record
	for _, r := range all {
		share := alike(mine, r.words)
		if r.op.ID == op.ID || r.part || !r.op.State.Terminal() || share < alikeness || r.op.Ended != nil && r.op.Ended.By.Role == human.Agent {
			continue
		}
		h.Counts.count(r.op)
		near = append(near, r)
		h.Alike = append(h.Alike, Past{
			OperationID: r.op.ID, Description: r.op.Description, AgentID: r.op.AgentID, Status: r.op.PlanOutcome(), At: r.op.EndedAt(), Alike: share,
			Changes: append([]human.TaskChange{}, r.changes...),
		})
	}
	slices.SortStableFunc(h.Alike, func(a, b Past) int { return cmp.Compare(b.Alike, a.Alike) })
	h.Alike = h.Alike[:min(len(h.Alike), mostAlike)]
	h.Usual = usual(near, mostUsual, func(t human.Task) bool {
		return slices.ContainsFunc(q.Tasks, func(o human.Task) bool { return same(o.Description, t.Description) })
	})
	h.Presets, err = s.fitting(ctx, mine, q.Tasks)
	return h, err
}

// fitting are the presets whose words the plan has, without those that it holds already.
func (s *Service) fitting(ctx context.Context, mine map[string]bool, tasks []human.Task) ([]Preset, error) {
	all, err := s.d.Store.Presets(ctx)
	fit := []Preset{}
	share := map[string]float64{}
	for _, p := range all {
		words := wordsOf(p.Name+" "+p.About, p.Tasks)
		both := 0
		for w := range words {
			if mine[w] {
				both++
			}
		}
		holds := !slices.ContainsFunc(p.Tasks, func(t human.Task) bool {
			return !slices.ContainsFunc(tasks, func(o human.Task) bool { return same(o.Description, t.Description) })
		})
		if share[p.ID] = float64(both) / float64(max(1, len(words))); share[p.ID] >= 0.25 && !holds {
			fit = append(fit, p)
		}
	}
	slices.SortStableFunc(fit, func(a, b Preset) int { return cmp.Compare(share[b.ID], share[a.ID]) })
	return fit, err
}

// same says whether two texts have the same words.
func same(a, b string) bool {
	return strings.Join(splitWords(a), " ") == strings.Join(splitWords(b), " ")
}

// usual are the changes that people made most in some plans, at most so many; has leaves out tasks that are there.
func usual(all []record, most int, has func(human.Task) bool) []UsualChange {
	found := map[string]*UsualChange{}
	var order []string
	for _, r := range all {
		seen := map[string]bool{}
		for _, c := range r.changes {
			one := UsualChange{Change: c.Kind, Text: c.Description}
			switch c.Kind {
			case human.TaskAdded:
				i := slices.IndexFunc(r.op.Result.Plan.Tasks, func(t human.Task) bool { return t.ID == c.ID })
				if i < 0 || has(r.op.Result.Plan.Tasks[i]) {
					continue
				}
				task := r.op.Result.Plan.Tasks[i]
				task.ID = ""
				one.Task = &task
			case human.TaskChanged:
				var fields []string
				for _, f := range c.Fields {
					fields = append(fields, f.Field)
				}
				one.Text = strings.Join(fields, ", ")
			}
			key := string(c.Kind) + "\x00" + strings.Join(splitWords(one.Text), " ")
			if seen[key] {
				continue
			}
			seen[key] = true
			if found[key] == nil {
				found[key] = &one
				order = append(order, key)
			}
			found[key].Times++
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(found[b].Times, found[a].Times) })
	list := []UsualChange{}
	for _, key := range order[:min(len(order), most)] {
		list = append(list, *found[key])
	}
	return list
}

func (o *Outcomes) count(op human.Operation) {
	switch op.PlanOutcome() {
	case human.PlanConfirmed:
		o.Confirmed++
		if op.Result.Plan != nil && op.Result.Plan.Auto {
			o.Auto++
		}
	case human.PlanModified:
		o.Modified++
	case human.PlanSentBack:
		o.SentBack++
	case human.PlanCancelled:
		o.Cancelled++
	case human.PlanTimeout:
		o.Timeout++
	}
}

// durations are how long tasks took, in seconds, by their tool and words, and by their tool alone.
type durations struct {
	exact map[string][]float64
}

func taskKey(t human.Task) string {
	return strings.ToLower(t.Tool) + "\x00" + strings.Join(splitWords(t.Description), " ")
}

// durations reads them off the newest plans. Without any, or where they cannot be read, nothing is known.
func (s *Service) durations(ctx context.Context) durations {
	d := durations{map[string][]float64{}}
	all, err := s.records(ctx)
	if err != nil {
		s.d.Log.Warn("earlier plans cannot be read; how long tasks take is not known", "err", err)
		return d
	}
	for _, r := range all {
		if r.op.Run == nil {
			continue
		}
		for _, t := range r.op.Run.Tasks {
			if t.State == human.TaskDone && t.Began != nil && t.Ended != nil {
				d.exact[taskKey(t.Task)] = append(d.exact[taskKey(t.Task)], t.Ended.Sub(*t.Began).Seconds())
			}
		}
	}
	return d
}

// of is the median of what such a task took, and of how many runs; 0 runs where that is not known.
func (d durations) of(t human.Task) (seconds float64, runs int) {
	list := d.exact[taskKey(t)]
	return quantile(list, 0.5), len(list)
}

// quantile is a quantile of a list, by the nearest rank; 0 of an empty one.
func quantile(list []float64, q float64) float64 {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	return list[min(len(list)-1, int(q*float64(len(list))))]
}

// Statistics tells how plans were answered in the last days; 0 is 30. At most the newest 500 plans are counted.
func (s *Service) Statistics(ctx context.Context, by human.Actor, days int) (Statistics, error) {
	if by.Role != human.Operator {
		return Statistics{}, human.Errorf(human.Denied, "only an operator can see how plans were answered")
	}
	if days <= 0 {
		days = 30
	}
	st := Statistics{Days: days, Changes: []UsualChange{}, PerDay: make([]DayOutcomes, days), Tools: []ToolDuration{}}
	all, err := s.records(ctx)
	if err != nil {
		return st, err
	}
	today := s.d.Now().UTC().Truncate(24 * time.Hour)
	first := today.AddDate(0, 0, 1-days)
	for i := range st.PerDay {
		st.PerDay[i].Day = first.AddDate(0, 0, i).Format(time.DateOnly)
	}
	var waits []float64
	var in []record
	tools := map[string]*ToolDuration{}
	took := map[string][]float64{}
	for _, r := range all {
		if r.op.CreatedAt.Before(first) {
			continue
		}
		tally(r, tools, took)
		if r.part || !r.op.State.Terminal() {
			continue
		}
		in = append(in, r)
		st.Plans++
		st.Outcomes.count(r.op)
		if day := int(r.op.CreatedAt.UTC().Truncate(24*time.Hour).Sub(first) / (24 * time.Hour)); day >= 0 && day < days {
			st.PerDay[day].count(r.op)
		}
		if r.op.Result != nil && r.op.Result.By.Role == human.Operator {
			waits = append(waits, r.op.Result.At.Sub(r.op.CreatedAt).Seconds())
		}
	}
	st.Median, st.P90 = quantile(waits, 0.5), quantile(waits, 0.9)
	st.Changes = usual(in, 8, func(human.Task) bool { return false })
	for name, t := range tools {
		t.Median = quantile(took[name], 0.5)
		st.Tools = append(st.Tools, *t)
	}
	slices.SortFunc(st.Tools, func(a, b ToolDuration) int { return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Tool, b.Tool)) })
	st.Tools = st.Tools[:min(len(st.Tools), 12)]
	return st, nil
}

// tally counts the tasks of a plan that ran, by tool.
func tally(r record, tools map[string]*ToolDuration, took map[string][]float64) {
	if r.op.Run == nil {
		return
	}
	for _, t := range r.op.Run.Tasks {
		if t.State != human.TaskDone && t.State != human.TaskFailed || t.Began == nil || t.Ended == nil {
			continue
		}
		if tools[t.Tool] == nil {
			tools[t.Tool] = &ToolDuration{Tool: t.Tool}
		}
		tools[t.Tool].Runs++
		if t.State == human.TaskFailed {
			tools[t.Tool].Failed++
		}
		took[t.Tool] = append(took[t.Tool], t.Ended.Sub(*t.Began).Seconds())
	}
}
