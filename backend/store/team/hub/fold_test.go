package hub

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/journaltest"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/store/team"
)

// desk runs the journal of a desk with what the hub gave it, and returns its queue.
func desk(t *testing.T, c Credentials) *queue.Queue {
	t.Helper()
	store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{Key: journaltest.Key})
	if err != nil {
		t.Fatal(err)
	}
	j, err := team.New(store, team.Options{Desk: c.Desk, Role: c.Role, Connect: func() (*nats.Conn, error) { return c.Connect(team.Settings(c.Desk)...) }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- j.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	for s, changed := j.Status(); !s.Online; s, changed = j.Status() {
		select {
		case <-changed:
		case <-time.After(30 * time.Second):
			t.Fatalf("%s is not online: %+v", c.Desk, s)
		}
	}
	return queue.New(j, store, queue.Options{Now: time.Now})
}

// The hub moves requests that ended into snapshots, which a new desk reads with the permissions of its role.
func TestTheHubFoldsWhatHasEnded(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h, _ := start(t, Options{FoldAfter: time.Nanosecond, foldFirst: time.Second, foldEvery: time.Second})
	ann := desk(t, join(t, h, "Ann", team.OperatorRole))
	op, _, err := ann.Ring(ctx, human.Request{Kind: human.Feedback, Description: "Which one?", AgentID: "bot", Priority: human.DefaultPriority, Timeout: 60}, false)
	if err == nil {
		_, err = ann.Claim(ctx, human.Actor{Role: human.Operator, Name: "Ann"}, op.ID)
	}
	if err == nil {
		_, err = ann.Complete(ctx, human.Actor{Role: human.Operator, Name: "Ann"}, op.ID, human.Answer{HumanInput: "The second."}, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	late := time.After(30 * time.Second)
	for {
		s, err := h.status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if s.Folded == 1 && s.Stream.State.Msgs == 0 {
			break
		}
		select {
		case <-late:
			t.Fatalf("%d are folded, %d messages are left", s.Folded, s.Stream.State.Msgs)
		case <-time.After(50 * time.Millisecond):
		}
	}
	for _, role := range []team.Role{team.AuditorRole, team.AgentRole} {
		ben := desk(t, join(t, h, "A "+string(role), role))
		got, err := ben.Get(ctx, human.Actor{Role: human.Operator}, op.ID)
		if err != nil || got.Result == nil || got.Result.HumanInput != "The second." {
			t.Errorf("%s: %+v, %v", role, got.Result, err)
		}
	}
}

// Nothing is compressed: a server that was killed could not always read it, see team.Config.
func TestNothingIsCompressed(t *testing.T) {
	t.Parallel()
	h, _ := start(t, Options{})
	n := 0
	list := h.office.js.ListStreams(t.Context())
	for s := range list.Info() {
		if n++; s.Config.Compression != jetstream.NoCompression {
			t.Errorf("%s is compressed", s.Config.Name)
		}
	}
	if err := list.Err(); err != nil || n < 8 {
		t.Errorf("there are %d streams, %v", n, err)
	}
}
