package procedure

import (
	"context"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
)

// What is looked at for work that is done by hand again and again.
const (
	often     = 3 // times, before it is proposed
	lookBack  = 90 * 24 * time.Hour
	mostWork  = 200 // recordings
	mostTaken = 3   // recordings that a procedure is made of
)

// A RepeatedWork is work that people did by hand several times, each time with other values, and that no procedure does.
type RepeatedWork struct {
	Title      string              `json:"title" doc:"What the latest asked for."`
	Site       string              `json:"site" doc:"The first that it was done on: scheme and host."`
	Agents     []string            `json:"agents" doc:"That asked for it."`
	Times      int                 `json:"times" doc:"In the last 90 days, as far as recordings are kept."`
	Took       int64               `json:"took_ms" doc:"How long all of them were recorded, pauses left out."`
	First      time.Time           `json:"first"`
	Last       time.Time           `json:"last"`
	Operation  human.OperationID   `json:"operation_id" doc:"The latest: what a dismissal names."`
	Recordings []human.RecordingID `json:"recordings" doc:"Of the latest three, the oldest first: what a procedure can be made of."`
	all        []human.OperationID
	did        human.Procedure
}

// Proposals are what to teach, the most frequent first: work that was done by hand three times or more in 90 days. It goes by what was
// done, which the words of requests tell little about. What an operator dismissed is not among it, however often it is done after that.
func (s *Service) Proposals(ctx context.Context, by human.Actor) ([]RepeatedWork, error) {
	if err := operatorsOnly(by); err != nil {
		return nil, err
	}
	if s.d.Recordings == nil {
		return []RepeatedWork{}, nil
	}
	dismissed, err := s.d.Store.Dismissed(ctx)
	if err != nil {
		return nil, err
	}
	taught, err := s.newest(ctx)
	if err != nil {
		return nil, err
	}
	var found []*RepeatedWork
	s.looking.Lock()
	defer s.looking.Unlock()
	seen := map[human.OperationID]bool{} // of several recordings of a request the latest counts
	did := map[human.RecordingID]human.Procedure{}
	err = s.recorded(ctx, by, func(r human.Recording) error {
		op, hand, err := s.byHand(ctx, by, r.OperationID)
		if err != nil || !hand || seen[op.ID] {
			return err
		}
		seen[op.ID] = true
		p, known := s.did[r.ID]
		if !known {
			if p, err = s.compiled(ctx, by, r.ID); err != nil {
				return err
			}
		}
		did[r.ID] = p
		at := slices.IndexFunc(found, func(w *RepeatedWork) bool { return alike(w.did, p) })
		if at < 0 && len(sites(p)) > 0 {
			at = len(found)
			found = append(found, &RepeatedWork{Title: human.OneLine(op.Description, 120), Site: sites(p)[0], Last: r.StartedAt, Operation: op.ID, did: p})
		}
		if at >= 0 {
			found[at].add(op, r)
		}
		return nil
	})
	s.did = did
	list := []RepeatedWork{}
	for _, w := range found {
		if w.Times >= often && !slices.ContainsFunc(w.all, func(id human.OperationID) bool { return slices.Contains(dismissed, string(id)) }) &&
			!slices.ContainsFunc(taught, func(v Version) bool { return alike(v.Content, w.did) }) {
			slices.Reverse(w.Recordings)
			list = append(list, *w)
		}
	}
	slices.SortStableFunc(list, func(a, b RepeatedWork) int { return b.Times - a.Times })
	return list, err
}

func (w *RepeatedWork) add(op human.Operation, r human.Recording) {
	w.Times++
	w.Took += time.Duration(r.Elapsed).Milliseconds()
	w.First = r.StartedAt
	w.all = append(w.all, op.ID)
	if len(w.Recordings) < mostTaken {
		w.Recordings = append(w.Recordings, r.ID)
	}
	if !slices.Contains(w.Agents, op.AgentID) {
		w.Agents = append(w.Agents, op.AgentID)
	}
}

// compiled is what was done in a recording; empty where that was nothing, or cannot be read any more.
func (s *Service) compiled(ctx context.Context, by human.Actor, id human.RecordingID) (human.Procedure, error) {
	title, rec, list, err := s.d.Recordings.Taught(ctx, by, id)
	if err == nil {
		p, _ := Compile(title, rec, list) // an error says that nothing was done
		return p, nil
	}
	if human.KindOf(err) == human.Internal || ctx.Err() != nil {
		return human.Procedure{}, err
	}
	return human.Procedure{}, nil
}

// recorded gives the recordings of work in browsers, as far as it is looked back, the newest first.
func (s *Service) recorded(ctx context.Context, by human.Actor, each func(human.Recording) error) error {
	since := s.d.Now().Add(-lookBack)
	cursor := ""
	for n := 0; n < mostWork; {
		page, err := s.d.Recordings.Recordings(ctx, by, "", 100, cursor)
		if err != nil {
			return err
		}
		for _, r := range page.Recordings {
			if r.StartedAt.Before(since) {
				return nil
			}
			if r.Options.Browser == nil || r.Running() || r.Removed != nil || r.Holder != "" {
				continue
			}
			if err := each(r); err != nil {
				return err
			}
		}
		n += len(page.Recordings)
		if cursor = page.Next; cursor == "" {
			return nil
		}
	}
	return nil
}

// byHand is an operation, and whether a person did and answered it themselves.
func (s *Service) byHand(ctx context.Context, by human.Actor, id human.OperationID) (op human.Operation, is bool, err error) {
	op, err = s.d.Queue.Get(ctx, by, id)
	if human.KindOf(err) == human.NotFound {
		return op, false, nil
	}
	if err != nil || op.State != human.Completed {
		return op, false, err
	}
	if _, err = s.d.Store.Run(ctx, id); human.KindOf(err) == human.NotFound {
		return op, true, nil
	}
	return op, false, err
}

// Dismiss has what is like the work of an operation not proposed any more. It blocks until that is on the disk.
func (s *Service) Dismiss(ctx context.Context, by human.Actor, id human.OperationID) error {
	if by.Role != human.Operator {
		return human.Errorf(human.Denied, "only an operator can dismiss what is proposed to be taught")
	}
	if _, err := s.d.Queue.Get(ctx, by, id); err != nil {
		return err
	}
	return s.d.Store.Dismiss(ctx, string(id))
}

// least is how much of two recordings must be the same.
const least = 0.7

// alike says whether the same work was done twice: on the same site, brought together as when it is taught, at least 0.7 of the steps are in
// both, and each step that writes or picks, by the same button. What is left out does not count.
func alike(a, b human.Procedure) bool {
	if !slices.ContainsFunc(sites(a), func(site string) bool { return slices.Contains(sites(b), site) }) {
		return false
	}
	both, all := 0, 0
	for _, c := range merge([]human.Procedure{a, b}).columns {
		first := c.first()
		switch {
		case c.all() && first.Writes && buttonOf(a, first) != buttonOf(b, c.of[1]):
			return false
		case c.all():
			both++
			all++
		case c.left == nil && (first.Writes || first.Do == "pick"):
			return false
		case c.left == nil && first.detour == 0 && !looks(first.ProcedureStep):
			all++
		}
	}
	return float64(both) >= least*float64(all) && both > 1
}

// buttonOf is the name of what a step is done to, without numbers and what was typed or stands in its row: Approve is not Reject.
func buttonOf(p human.Procedure, s *shown) string {
	if s.Target == nil {
		return ""
	}
	name := s.Target.Name
	for _, cell := range s.Target.Row {
		name = strings.ReplaceAll(name, cell, "")
	}
	for _, other := range p.Steps {
		if other.Text != "" {
			name = strings.ReplaceAll(name, other.Text, "")
		}
	}
	return digits(name)
}
