package observe_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/observe"
)

var (
	bot   = human.Actor{Role: human.Agent, Name: "bot"}
	ann   = human.Actor{Role: human.Operator, Name: "Ann"}
	epoch = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
)

// entries are those of one operation; each event is a second after the one before.
func entries(events ...human.Event) []human.Entry {
	all := make([]human.Entry, len(events))
	for i, e := range events {
		e.At = epoch.Add(time.Duration(i) * time.Second)
		all[i] = human.Entry{Seq: uint64(i) + 1, ID: "op_1", Version: uint64(i) + 1, Event: e}
	}
	return all
}

func rung() human.Event {
	return human.Event{Type: human.Invoked, By: bot, Request: &human.Request{Kind: human.Approve, Description: "Deploy?", AgentID: "bot", Priority: 5}}
}

func by(who human.Actor, of human.EventType) human.Event { return human.Event{Type: of, By: who} }

func on(channel string, of human.EventType) human.Event {
	return human.Event{Type: of, By: ann, Channel: channel}
}

var (
	yes   = human.Event{Type: human.Finished, By: ann, Answer: &human.Answer{Decision: human.Approved}}
	asked = human.Event{Type: human.Asked, By: ann, Text: "Which?"}
	said  = human.Event{Type: human.Replied, By: bot, Text: "This one."}
	word  = human.Event{Type: human.Commented, By: ann, Text: "Well done."}
	no    = human.Event{Type: human.TurnedDown, By: ann, Text: "no"}
	never = human.Event{Type: human.Withdrawn, By: bot}
)

func TestSpans(t *testing.T) {
	for name, tt := range map[string]struct {
		events []human.Event
		want   []string // name from-to in seconds
	}{
		"all of them": {
			[]human.Event{rung(), on("card", human.Shown), on("console", human.Shown), on("card", human.Seen), by(ann, human.ClaimedBy), asked, said, yes, by(human.Actor{Role: human.System}, human.Delivered)},
			[]string{"shown 0-1", "seen 1-3", "waiting for the agent 5-6", "claimed 4-7", "answered 3-7", "request 0-7", "delivered 7-8"},
		},
		"nothing but an answer":               {[]human.Event{rung(), yes}, []string{"answered 0-1", "request 0-1"}},
		"withdrawn while it was asked":        {[]human.Event{rung(), by(ann, human.ClaimedBy), asked, never}, []string{"waiting for the agent 2-3", "claimed 1-3", "request 0-3"}},
		"claimed twice":                       {[]human.Event{rung(), by(ann, human.ClaimedBy), by(ann, human.Released), by(ann, human.ClaimedBy), no}, []string{"claimed 1-2", "claimed 3-4", "answered 0-4", "request 0-4"}},
		"a word after its end":                {[]human.Event{rung(), no, by(bot, human.Delivered), word, by(bot, human.Delivered)}, []string{"answered 0-1", "request 0-1", "delivered 1-2", "delivered 3-4"}},
		"seen only after its end":             {[]human.Event{rung(), never, on("console", human.Seen)}, []string{"request 0-1"}},
		"a card that could not be shown":      {[]human.Event{rung(), {Type: human.Shown, By: ann, Channel: "card", Text: "no display"}, yes}, []string{"answered 0-2", "request 0-2"}},
		"an operation that has not ended":     {[]human.Event{rung(), on("card", human.Shown)}, []string{"shown 0-1"}},
		"the agent speaks without a question": {[]human.Event{rung(), said, yes}, []string{"answered 0-2", "request 0-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			all := entries(tt.events...)
			if _, err := human.Fold("op_1", all); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range observe.Spans(all) {
				got = append(got, fmt.Sprintf("%s %g-%g", s.Name, s.From.Sub(epoch).Seconds(), s.To.Sub(epoch).Seconds()))
				if at := all[s.Version-1].Event.At; !at.Equal(s.To) {
					t.Errorf("%s ends with version %d, at %s, and at %s", s.Name, s.Version, at, s.To)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestARequestIsSeenFirstOnce(t *testing.T) {
	all := entries(rung(), on("card", human.Shown), on("card", human.Seen), on("console", human.Seen), on("card", human.Seen), yes)
	op, err := human.Fold("op_1", all)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range all {
		after, is := observe.FirstSeen(op, e)
		if is != (i == 2) || is && after != 2*time.Second {
			t.Errorf("entry %s: %v after %s", e, is, after)
		}
	}
}

func TestOutcome(t *testing.T) {
	for want, end := range map[string]human.Event{
		"approved": yes, "declined": no, "cancelled": never,
		"denied":    {Type: human.Finished, By: ann, Answer: &human.Answer{Decision: human.Refused}},
		"completed": {Type: human.Finished, By: ann, Answer: &human.Answer{HumanInput: "done"}},
	} {
		op, err := human.Fold("op_1", entries(rung(), end))
		if got := observe.Outcome(op); err != nil || got != want {
			t.Errorf("%q, want %q (%v)", got, want, err)
		}
	}
}

// A journal that cannot be read for a while is read on where it was left.
func TestFollowReadsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &stub{all: entries(rung(), on("card", human.Shown), yes), live: 3, broken: 2}
		ctx, cancel := context.WithCancel(t.Context())
		var done []uint64
		err := observe.Follow(ctx, q, ann, 0, func(_ context.Context, e human.Entry) error {
			if done = append(done, e.Seq); e.Seq == 3 {
				cancel()
			}
			return nil
		})
		if err != nil || !slices.Equal(done, []uint64{1, 2, 3}) {
			t.Errorf("worked on %v, %v", done, err)
		}
	})
}

// stub is a queue of entries, of which the first live are there to follow and the others only once its context has ended.
type stub struct {
	all    []human.Entry
	live   int
	broken int // so many times it can be read up to its first entry only
}

func (s *stub) Head(context.Context) (uint64, error) { return uint64(len(s.all)), nil }

func (s *stub) Follow(ctx context.Context, _ human.Actor, after uint64) iter.Seq2[human.Entry, error] {
	return func(yield func(human.Entry, error) bool) {
		if s.broken--; s.broken >= 0 {
			if after > 0 || yield(s.all[0], nil) {
				yield(human.Entry{}, errors.New("it cannot be read"))
			}
			return
		}
		until := s.live
		if s.live = len(s.all); until == s.live {
			ctx = context.Background() // the second time it has all
		}
		for _, e := range s.all[after:until] {
			if !yield(e, nil) {
				return
			}
		}
		<-ctx.Done()
	}
}

func (s *stub) History(context.Context, human.Actor, human.OperationID) ([]human.Entry, error) {
	return s.all, nil
}

// What is stored while ctx ends is followed, too, each entry once, also one during which it ended.
func TestFollowReadsToTheEnd(t *testing.T) {
	for name, fails := range map[string]bool{"between two": false, "while one is worked on": true} {
		t.Run(name, func(t *testing.T) {
			q := &stub{all: entries(rung(), on("card", human.Shown), on("card", human.Seen), yes), live: 2}
			ctx, cancel := context.WithCancel(t.Context())
			var done []uint64
			err := observe.Follow(ctx, q, ann, 0, func(ctx context.Context, e human.Entry) error {
				if e.Seq == 2 {
					cancel()
					if fails && ctx.Err() != nil {
						return ctx.Err()
					}
				}
				done = append(done, e.Seq)
				return nil
			})
			if err != nil || !slices.Equal(done, []uint64{1, 2, 3, 4}) {
				t.Errorf("worked on %v, %v", done, err)
			}
		})
	}
	q := &stub{all: entries(rung(), yes), live: 2}
	bad := errors.New("bad")
	if err := observe.Follow(t.Context(), q, ann, 0, func(context.Context, human.Entry) error { return bad }); !errors.Is(err, bad) {
		t.Errorf("it ended with %v", err)
	}
}
