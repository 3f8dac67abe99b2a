package callers

import (
	"context"
	"errors"
	"regexp"
	"slices"

	"deskbell/backend/human"
)

// Limits of what is kept of attempts. An agent that tries without end is counted.
const (
	mostOpen  = 100 // attempts that are not dismissed, each of an agent's name
	mostFirst = 10  // tries of one attempt: the first, and the last
	mostLast  = 10
)

// Attempted reports what an agent tried that a hard limit blocked. Detail is masked here. The processes are those of ctx's Caller.
func (s *Service) Attempted(ctx context.Context, agent string, t human.Try) {
	if s == nil {
		return
	}
	of := Agent{Name: agent, How: human.MarkGate}
	line := s.lineOf(Of(ctx))
	if len(line) > 1 && s.isOurs(line[0]) {
		line = line[1:] // a hook only asks for who started it
	}
	if a, is := s.agentIn(line); is {
		of.Process = a.Process
	}
	t.Line = s.ancestors(line, of.Process)
	s.attempted(ctx, of, t)
}

// Failed reports what ctx's Caller tried that did not succeed, whoever it is, such as a wrong code. name is the agent whose key it has,
// if any. Detail is masked here.
func (s *Service) Failed(ctx context.Context, name string, t human.Try) {
	if s == nil {
		return
	}
	line := s.lineOf(Of(ctx))
	of, is := s.agentIn(line)
	switch {
	case name != "":
		of.Name, of.How = name, human.MarkKey
	case !is:
		of.How = human.MarkNone
	}
	t.Line = s.ancestors(line, of.Process)
	s.attempted(ctx, of, t)
}

// lineOf is a caller's line, or nil where it is not known.
func (s *Service) lineOf(c *Caller) []human.Process {
	if c == nil || s.deps.Off {
		return nil
	}
	line, _ := c.Line() // a caller that cannot be seen makes attempts, too
	return line
}

// attempted counts a try. It is stored when it returns, so that killing this process does not hide it, unless another one was just
// before.
func (s *Service) attempted(ctx context.Context, of Agent, t human.Try) {
	t.At = s.deps.Now().UTC()
	t.Detail = s.shown(t.Detail)
	if s.count(of, t) {
		s.flush(context.WithoutCancel(ctx))
	} else {
		s.tell()
	}
}

// count adds a try to its attempt. at says that it is to be stored at once.
func (s *Service) count(of Agent, t human.Try) (at bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.Line == nil {
		t.Line = []human.Ancestor{}
	}
	a := s.open[of.Name]
	if a == nil && len(s.open) >= mostOpen {
		of.Name = ""
		a = s.open[of.Name]
	}
	if a == nil {
		a = &human.Attempt{ID: human.AttemptID(s.deps.NewID(human.AttemptPrefix)), AgentID: of.Name, FirstAt: t.At}
		s.open[of.Name] = a
	}
	a.Count++
	a.LastAt, a.How = t.At, of.How
	if of.Process.PID != 0 {
		a.Process = of.Process
	}
	a.Tries = slices.Clone(a.Tries) // what was told stays as it was
	if len(a.Tries) >= mostFirst+mostLast {
		a.Tries = slices.Delete(a.Tries, mostFirst, mostFirst+1)
	}
	a.Tries = append(a.Tries, t)
	s.unstored[of.Name] = true
	if t.At.Sub(s.stored) < settle {
		return false
	}
	s.stored = t.At
	return true
}

// Secrets of our own: keys, tokens and codes, as they are written.
var ours = regexp.MustCompile(`\bdb[ko]_\w+|\b[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}\b`)

// shown is untrusted text as operators may see it.
func (s *Service) shown(text string) string {
	return human.OneLine(ours.ReplaceAllString(s.deps.Mask(text), "***"), mostCommand)
}

// flush stores what changed, and tells who watches.
func (s *Service) flush(ctx context.Context) {
	s.mu.Lock()
	var changed []human.Attempt
	for name := range s.unstored {
		if a := s.open[name]; a != nil {
			changed = append(changed, *a)
		}
	}
	clear(s.unstored)
	s.mu.Unlock()
	err := s.save()
	for _, a := range changed {
		if failed := s.deps.Store.PutAttempt(ctx, a); failed != nil {
			err = errors.Join(err, failed)
			s.mu.Lock()
			s.unstored[a.AgentID] = true // with the next
			s.mu.Unlock()
		}
		s.told(a)
	}
	if err != nil {
		s.deps.Log.Error("what agents tried could not be stored", "err", err)
	}
}

func (s *Service) told(a human.Attempt) {
	a.Running = a.Process.PID != 0 && s.lives(a.Process)
	s.mu.RLock()
	defer s.mu.RUnlock()
	for w := range s.watchers {
		select {
		case w <- a:
		default: // it reads too slowly; the list has it
		}
	}
}

// Attempts returns what agents tried, the newest first: those not dismissed, or with all everything that is kept.
func (s *Service) Attempts(ctx context.Context, all bool) ([]human.Attempt, error) {
	list, err := s.deps.Store.Attempts(ctx, all)
	if err != nil {
		return nil, err
	}
	s.mu.RLock()
	for _, a := range s.open { // what is not stored yet
		i := slices.IndexFunc(list, func(b human.Attempt) bool { return a.ID == b.ID })
		if i < 0 {
			list = append(list, *a)
		} else {
			list[i] = *a
		}
	}
	s.mu.RUnlock()
	for i := range list {
		list[i].Running = list[i].Process.PID != 0 && s.lives(list[i].Process)
	}
	slices.SortStableFunc(list, func(a, b human.Attempt) int { return b.LastAt.Compare(a.LastAt) })
	return list, nil
}

// Dismiss notes that an operator has seen an attempt. What the agent tries then is another attempt.
func (s *Service) Dismiss(ctx context.Context, by human.Actor, id human.AttemptID) error {
	list, err := s.Attempts(ctx, true)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(a human.Attempt) bool { return a.ID == id })
	if i < 0 {
		return human.Errorf(human.NotFound, "there is no attempt %s", id)
	}
	a := list[i]
	if a.DismissedAt != nil {
		return nil
	}
	now := s.deps.Now().UTC()
	a.DismissedAt, a.DismissedBy = &now, by.Name
	if err := s.deps.Store.PutAttempt(ctx, a); err != nil {
		return err
	}
	s.mu.Lock()
	if now := s.open[a.AgentID]; now != nil && now.ID == id {
		delete(s.open, a.AgentID)
	}
	s.mu.Unlock()
	s.told(a)
	return nil
}

// Watch calls changed with each attempt as it changes, at most once a second, until ctx ends. It blocks; changed may, too, and
// misses some then.
func (s *Service) Watch(ctx context.Context, changed func(human.Attempt)) {
	news := make(chan human.Attempt, 16)
	s.mu.Lock()
	s.watchers[news] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.watchers, news)
		s.mu.Unlock()
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case a := <-news:
			changed(a)
		}
	}
}
