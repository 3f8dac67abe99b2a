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
	mostWork  = 500 // recordings
	mostTaken = 3   // recordings that a procedure is made of
)

// A RepeatedWork is similar work that people did by hand several times, and that no procedure covers.
type RepeatedWork struct {
	Title      string              `json:"title" doc:"What the latest asked for."`
	Site       string              `json:"site"`
	Agents     []string            `json:"agents" doc:"That asked for it."`
	Times      int                 `json:"times" doc:"In the last 90 days, with a recording that is kept."`
	Took       int64               `json:"took_ms" doc:"How long all of them were recorded, pauses left out."`
	First      time.Time           `json:"first"`
	Last       time.Time           `json:"last"`
	Operation  human.OperationID   `json:"operation_id" doc:"The latest: what a dismissal names."`
	Recordings []human.RecordingID `json:"recordings" doc:"Of the latest three, the oldest first: what a procedure can be made of."`
	all        []human.OperationID
	asks       asking
}

// Proposals are what to teach, the most frequent first: work that was done by hand three times or more in 90 days, on the same site and by
// requests of similar words. One that an operator dismissed is not among them, however often it is done after that.
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
	seen := map[human.OperationID]bool{} // of several recordings of a request the latest counts
	err = s.recorded(ctx, by, func(r human.Recording) error {
		if seen[r.OperationID] {
			return nil
		}
		seen[r.OperationID] = true
		op, asks, err := s.byHand(ctx, by, r.OperationID)
		if err != nil || len(asks.hosts) == 0 || slices.ContainsFunc(taught, func(v Version) bool { _, covers := Covers(v.Content, op); return covers }) {
			return err
		}
		at := slices.IndexFunc(found, func(p *RepeatedWork) bool { return p.asks.like(asks) })
		if at < 0 {
			at = len(found)
			found = append(found, &RepeatedWork{Title: human.OneLine(op.Description, 120), Site: asks.hosts[0], Last: r.StartedAt, Operation: op.ID, asks: asks})
		}
		found[at].add(op, r)
		return nil
	})
	list := []RepeatedWork{}
	for _, p := range found {
		if p.Times >= often && !slices.ContainsFunc(p.all, func(id human.OperationID) bool { return slices.Contains(dismissed, string(id)) }) {
			slices.Reverse(p.Recordings)
			list = append(list, *p)
		}
	}
	slices.SortStableFunc(list, func(a, b RepeatedWork) int { return b.Times - a.Times })
	return list, err
}

func (p *RepeatedWork) add(op human.Operation, r human.Recording) {
	p.Times++
	p.Took += time.Duration(r.Elapsed).Milliseconds()
	p.First = r.StartedAt
	p.all = append(p.all, op.ID)
	if len(p.Recordings) < mostTaken {
		p.Recordings = append(p.Recordings, r.ID)
	}
	if !slices.Contains(p.Agents, op.AgentID) {
		p.Agents = append(p.Agents, op.AgentID)
	}
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

// byHand is a request for work that a person did themselves; what it asks is empty where it is not such a one.
func (s *Service) byHand(ctx context.Context, by human.Actor, id human.OperationID) (op human.Operation, asks asking, err error) {
	op, err = s.d.Queue.Get(ctx, by, id)
	if human.KindOf(err) == human.NotFound {
		return op, asks, nil
	}
	if err != nil || op.State != human.Completed {
		return op, asks, err
	}
	if _, err = s.d.Store.Run(ctx, id); human.KindOf(err) != human.NotFound {
		return op, asks, err
	}
	asks, _ = askingOf(op)
	return op, asks, nil
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

// like says whether two requests ask for the same work with other values: on the same site, telling to do the same, and of like words, names
// and numbers left out: a quarter of them (Dice's coefficient) where they are about the same thing first of all, else three quarters.
func (a asking) like(b asking) bool {
	if !slices.ContainsFunc(a.hosts, func(h string) bool { return slices.Contains(b.hosts, h) }) || !slices.Equal(sorted(a.told), sorted(b.told)) {
		return false
	}
	mine, theirs := a.common(), b.common()
	same := 0
	for word := range mine {
		if theirs[word] {
			same++
		}
	}
	least := 0.75
	if a.head() == b.head() {
		least = 0.25
	}
	return same > 0 && float64(2*same) >= least*float64(len(mine)+len(theirs))
}

// head is what the first sentence of a request is about first of all.
func (a asking) head() string {
	first, _, _ := strings.Cut(strings.NewReplacer(". ", "\n", "。", "\n", "；", "\n").Replace(a.text), "\n")
	_, head := things(first)
	return head
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// common are the words of a request that may be in another one for the same work.
func (a asking) common() map[string]bool {
	all := map[string]bool{}
	for _, t := range a.words {
		if !t.name && !passed()[t.word] && !neutral()[t.word] && !lead()[t.word] {
			all[t.word] = true
		}
	}
	for _, verbs := range doings() {
		for _, verb := range verbs {
			delete(all, stem(verb))
		}
	}
	return all
}
