// Package journaltest is the conformance suite of queue.Journal. An adapter's test calls Run, its benchmark
// Bench, with a function that opens the journal in a folder.
package journaltest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/receipt"
)

// A Journal is one that can be closed, which gives its folder free to be opened again.
type Journal interface {
	queue.Journal
	Close() error
}

// An Opener opens the journal kept in dir, or fails the test. It registers no cleanup: the suite closes
// what it opened.
type Opener func(tb testing.TB, dir string) Journal

// Run puts a journal through everything that queue.Journal promises. The test binary is started once more
// to be killed in the midst of writing, so Run must be reached by a test that does nothing harmful when it
// runs twice at a time, each time in folders of its own.
func Run(t *testing.T, open Opener) {
	if dir := os.Getenv(crashDir); dir != "" {
		appendUntilKilled(t, open(t, dir))
		return
	}
	for _, tt := range []struct {
		name string
		test func(*testing.T, *journal)
	}{
		{"every event reads back as it was written", readsBack},
		{"an empty journal", empty},
		{"events of one append stand together", together},
		{"a wrong version changes nothing", wrongVersion},
		{"an empty append fails", emptyAppend},
		{"the caller's memory stays the caller's", ownMemory},
		{"many writers, each its own operation", manyOperations},
		{"many writers, one operation", oneOperation},
		{"a reader beside writers sees a prefix, in order", readWhileWriting},
		{"read begins after a seq and ends where it began", readBounds},
		{"wait wakes at the next entry", waitWakes},
		{"wait ends with its context", waitEnds},
		{"a context that has ended appends nothing", deadContext},
		{"everything is there after closing", reopen},
		{"receipts have their places in one log", receipts},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j := &journal{T: t, open: open, dir: t.TempDir()}
			j.Journal = open(t, j.dir)
			defer func() {
				if err := j.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			}()
			tt.test(t, j)
		})
	}
	t.Run("what was acknowledged outlives a kill", func(t *testing.T) { crash(t, open) })
}

// journal is the one under test, with the checks the tests share.
type journal struct {
	*testing.T
	Journal
	open Opener
	dir  string
}

// Key is what the journals under test sign their logs of receipts with.
func Key() *receipt.Key { return key }

var key = receipt.NewKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize)))

// Trust trusts Key.
func Trust() receipt.Trust {
	return receipt.Trust{LogKeys: map[string]string{key.ID: receipt.PublicText(key.Public())}}
}

// Answered is an operator's answer to an operation, as its version, with a receipt.
func Answered(tb testing.TB, id human.OperationID, version uint64) human.Event {
	op, err := human.Operation{ID: id}.Apply(ring("answered"))
	e := human.Event{Type: human.Finished, At: at, By: ann, Answer: &human.Answer{HumanInput: "yes"}}
	if err != nil {
		tb.Fatal(err)
	}
	made, err := (&receipt.Maker{Key: Key}).Make(tb.Context(), op, version, e, nil)
	if err != nil {
		tb.Fatal(err)
	}
	raw, err := made.Encode()
	e.Receipt = &raw
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// at is a time with everything that is easily lost: nanoseconds and a zone.
var at = time.Date(2026, 3, 29, 2, 59, 59, 123456789, time.FixedZone("", 8*3600))

var (
	bot  = human.Actor{Role: human.Agent, Name: "bot"}
	ann  = human.Actor{Role: human.Operator, Name: "Ann"}
	self = human.Actor{Role: human.System}
)

func ring(text string) human.Event {
	return human.Event{Type: human.Invoked, At: at, By: bot, Request: &human.Request{Kind: human.Feedback, Description: text, AgentID: bot.Name, Priority: 5, RequestedBy: ann.Name}}
}

func reply(text string) human.Event {
	return human.Event{Type: human.Replied, At: at, By: bot, Text: text}
}

// shown is an event that is always allowed and never makes an operation larger.
func shown() human.Event {
	return human.Event{Type: human.Shown, At: at, By: self, Channel: "card"}
}

func (j *journal) append(id human.OperationID, expected uint64, events ...human.Event) uint64 {
	j.Helper()
	seq, err := j.Append(context.Background(), id, expected, events...)
	if err != nil {
		j.Fatalf("Append(%s, %d): %v", id, expected, err)
	}
	return seq
}

func (j *journal) refused(kind human.ErrorKind, id human.OperationID, expected uint64, events ...human.Event) {
	j.Helper()
	before := j.all()
	_, err := j.Append(context.Background(), id, expected, events...)
	if err == nil || human.KindOf(err) != kind {
		j.Fatalf("Append(%s, %d) = %v, want kind %d", id, expected, err, kind)
	}
	if after := j.all(); !reflect.DeepEqual(before, after) {
		j.Fatalf("a failed append changed the journal:\n%v\n%v", before, after)
	}
}

// all reads the whole journal and checks what holds of every journal: seqs and versions without gaps,
// Head and Operation in agreement with Read.
func (j *journal) all() []human.Entry {
	j.Helper()
	var all []human.Entry
	byID := map[human.OperationID][]human.Entry{}
	for e, err := range j.Read(context.Background(), 0) {
		if err != nil {
			j.Fatalf("Read: %v", err)
		}
		if e.Seq != uint64(len(all))+1 {
			j.Fatalf("entry %d has seq %d", len(all)+1, e.Seq)
		}
		all = append(all, e)
		byID[e.ID] = append(byID[e.ID], e)
		if e.Version != uint64(len(byID[e.ID])) {
			j.Fatalf("entry %v is number %d of its operation", e, len(byID[e.ID]))
		}
	}
	if head, err := j.Head(context.Background()); err != nil || head != uint64(len(all)) {
		j.Fatalf("Head = %d, %v after %d entries", head, err, len(all))
	}
	for id, want := range byID {
		got, err := j.Operation(context.Background(), id)
		if err != nil || !reflect.DeepEqual(got, want) {
			j.Fatalf("Operation(%s) = %v, %v, want %v", id, got, err, want)
		}
	}
	answers := 0
	for _, e := range all {
		if e.Event.Receipt != nil {
			answers++
		}
	}
	audit, err := j.Audit(context.Background(), Trust())
	if err != nil || audit.Entries != uint64(len(all)) || audit.Receipts != uint64(answers) || len(audit.Found) > 0 {
		j.Fatalf("Audit of %d entries with %d receipts: %+v, %v", len(all), answers, audit, err)
	}
	return all
}

// reopened closes the journal and opens it again.
func (j *journal) reopened() {
	j.Helper()
	if err := j.Close(); err != nil {
		j.Fatalf("Close: %v", err)
	}
	j.Journal = j.open(j.T, j.dir)
}

// utc is the event as it must be read: the same moments, in UTC.
func utc(e human.Event) human.Event {
	e.At = e.At.UTC()
	if e.Until != nil {
		until := e.Until.UTC()
		e.Until = &until
	}
	return e
}

func readsBack(t *testing.T, j *journal) {
	// Spaces, order, doubled names, numbers past float64, characters JSON may escape: a digest is made of these bytes.
	details := "{ \"b\":1,\n\t\"a\" : \"<&> \\u003c \u2028 部署 🛎\", \"a\":12345678901234567890.10, \"risk_level\":\"high\" }"
	request := &human.Request{
		Kind: human.Approve, Description: "Delete <the> \"index\"?\n是否删除？", Details: json.RawMessage(details),
		Context: json.RawMessage("{\"pad\":\"" + strings.Repeat("x", 1<<20) + "\"}"), AgentID: bot.Name, SessionID: "s-1",
		IdempotencyKey: "k/1", Priority: 9, Timeout: 0.25, OnTimeout: human.Cancel, Approvals: 2,
	}
	until := at.Add(time.Hour)
	answer := &human.Answer{
		HumanInput: "no\tnever", ExecutionResult: "0", Summary: "<b>", KeyFindings: []string{"", "二"}, Decision: human.Refused,
		Fields: map[string]string{"a.b": "c"}, Attachments: []string{"f1"},
	}
	events := []human.Event{
		{Type: human.Invoked, At: at, By: bot, Request: request},
		{Type: human.Shown, At: at.Add(1), By: self, Channel: "notification", Text: "no display"},
		{Type: human.Seen, At: at.Add(2), By: ann, Channel: "card"},
		{Type: human.ClaimedBy, At: at.Add(3), By: ann},
		{Type: human.Released, At: at.Add(4), By: ann, Text: "lunch"},
		{Type: human.Started, At: at.Add(5), By: ann},
		{Type: human.InputSaved, At: at.Add(6), By: ann, Answer: &human.Answer{HumanInput: "dra"}},
		{Type: human.InputSaved, At: at.Add(7), By: ann},
		{Type: human.Snoozed, At: at.Add(8), By: ann, Until: &until},
		{Type: human.Snoozed, At: at.Add(9), By: ann},
		{Type: human.Held, At: at.Add(9), By: ann, Answer: answer, Until: &until},
		{Type: human.Undone, At: at.Add(9), By: ann},
		{Type: human.HandedOver, At: at.Add(9), By: ann, To: "美", Text: "lunch"},
		{Type: human.Routed, At: at.Add(9), By: self, Routing: &human.Routing{Step: 1, Names: []string{"美", "Ann"}, Reason: human.Sentence{Text: "first", Code: "first", Params: human.Params{"1": "x"}}}},
		{Type: human.ApprovedFirst, At: at.Add(9), By: ann, Answer: &human.Answer{Decision: human.Approved}, Digest: request.Digest()},
		{Type: human.Asked, At: at.Add(10), By: ann, Text: "which index?"},
		{Type: human.Replied, At: at.Add(11), By: bot, Text: "logs\u0000-2025"},
		{Type: human.Expired, At: at.Add(12), By: self},
		{Type: human.Finished, At: at.Add(13), By: ann, Answer: answer},
		{Type: human.Commented, At: at.Add(14), By: ann, Text: "next time ask first"},
		{Type: human.Delivered, At: at.Add(15), By: self},
	}
	var want []human.Entry
	for i, e := range events {
		v := uint64(i) + 1
		if seq := j.append("op_1", v-1, e); seq != v {
			t.Fatalf("Append of entry %d returned seq %d", v, seq)
		}
		want = append(want, human.Entry{Seq: v, ID: "op_1", Version: v, Event: utc(e)})
	}
	for _, when := range []string{"at once", "after reopening"} {
		for i, got := range j.all() {
			if !reflect.DeepEqual(got, want[i]) {
				t.Errorf("%s, entry %v reads\n%#v\nwant\n%#v", when, got, got.Event, want[i].Event)
			}
		}
		if got := j.all()[0].Event.Request; string(got.Details) != details || got.Digest() != request.Digest() {
			t.Errorf("%s, details read %q, want %q", when, got.Details, details)
		}
		j.reopened()
	}
}

func receipts(t *testing.T, j *journal) {
	const n = 12
	for i := range n {
		id := human.OperationID(fmt.Sprintf("op_%d", i))
		j.append(id, 0, ring("answered"))
		j.refused(human.Conflict, id, 7, Answered(t, id, 8)) // leaves nothing in the log either
		j.append(id, 1, reply("please"), Answered(t, id, 3))
		if i == n/2 {
			j.reopened()
		}
	}
	j.append("op_none", 0, ring("not answered"))
	j.all()
	for i := range n {
		id := human.OperationID(fmt.Sprintf("op_%d", i))
		got, err := j.Receipts(t.Context(), id)
		if err != nil || len(got) != 1 {
			t.Fatalf("Receipts(%s) = %v, %v", id, got, err)
		}
		if r := receipt.Verify(got[0].RawMessage, Trust()); !r.Authentic || r.Operation != string(id) || r.Position != uint64(i+1) {
			t.Errorf("the receipt of %s: %+v", id, r)
		}
	}
	c, err := j.Chain(t.Context(), "op_5", Trust())
	if err != nil || len(c.Neighbors) != 4 || c.Neighbors[2].Number != 6 || c.Neighbors[2].Operation != "op_5" || c.Receipts != n || len(c.Found) > 0 {
		t.Errorf("the chain around the receipt of op_5: %+v, %v", c, err)
	}
	if c, err = j.Chain(t.Context(), "op_none", Trust()); err != nil || len(c.Neighbors) > 0 || c.Receipts != n {
		t.Errorf("the chain around an operation without an answer: %+v, %v", c, err)
	}
	if got, err := j.Receipts(t.Context(), "op_none"); err != nil || len(got) != 0 {
		t.Errorf("an operation without an answer has the receipts %v, %v", got, err)
	}
}

func empty(t *testing.T, j *journal) {
	if all := j.all(); len(all) != 0 {
		t.Errorf("a new journal has %v", all)
	}
	if got, err := j.Operation(context.Background(), "op_none"); err != nil || len(got) != 0 {
		t.Errorf("Operation of nothing = %v, %v", got, err)
	}
}

func together(t *testing.T, j *journal) {
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			id := human.OperationID(fmt.Sprintf("op_%d", w))
			for v := uint64(0); v < 30; v += 3 {
				events := []human.Event{reply("1"), reply("2"), reply("3")}
				if v == 0 {
					events[0] = ring("together")
				}
				seq, err := j.Append(context.Background(), id, v, events...)
				if err != nil {
					t.Errorf("Append: %v", err)
					return
				}
				mine, err := j.Operation(context.Background(), id)
				if err != nil || len(mine) != int(v)+3 || mine[v+2].Seq != seq || mine[v].Seq != seq-2 {
					t.Errorf("after seq %d of %s: %v, %v", seq, id, mine, err)
					return
				}
			}
		})
	}
	wg.Wait()
	j.all()
}

func wrongVersion(t *testing.T, j *journal) {
	j.refused(human.Conflict, "op_1", 1, reply("of nothing"))
	j.append("op_1", 0, ring("one"))
	j.refused(human.Conflict, "op_1", 0, ring("again"))
	j.refused(human.Conflict, "op_1", 0, ring("again"), reply("and more"))
	j.refused(human.Conflict, "op_1", 2, reply("ahead"))
	j.append("op_1", 1, reply("yes"))
	j.refused(human.Conflict, "op_1", 1, reply("late"))
	j.refused(human.Conflict, "op_1", 1, reply("late"), reply("late"))
	j.refused(human.Conflict, "op_2", 7, reply("of nothing"))
	j.append("op_1", 2, reply("still works"))
	j.append("op_2", 0, ring("two"))
	j.reopened()
	j.refused(human.Conflict, "op_1", 2, reply("late"))
	j.append("op_1", 3, reply("still works"))
	if n := len(j.all()); n != 5 {
		t.Errorf("%d entries, want 5", n)
	}
}

func emptyAppend(_ *testing.T, j *journal) {
	j.refused(human.Invalid, "op_1", 0)
	j.refused(human.Invalid, "", 0, ring("nobody's"))
}

func ownMemory(t *testing.T, j *journal) {
	e := ring("before")
	e.Request.Details = json.RawMessage(`{"a":"before"}`)
	j.append("op_1", 0, e)
	e.Request.Description = "after"
	copy(e.Request.Details, `{"a":"after!"}`)
	got := j.all()[0].Event.Request
	if got.Description != "before" || string(got.Details) != `{"a":"before"}` {
		t.Errorf("the journal changed with the caller's memory: %+v", got)
	}
}

func manyOperations(t *testing.T, j *journal) {
	const writers, each, events = 32, 5, 6
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				id := human.OperationID(fmt.Sprintf("op_%d_%d", w, n))
				for v := range uint64(events) {
					e := reply("more")
					if v == 0 {
						e = ring("many")
					}
					if _, err := j.Append(context.Background(), id, v, e); err != nil {
						t.Errorf("Append(%s, %d): %v", id, v, err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	if n := len(j.all()); n != writers*each*events {
		t.Errorf("%d entries, want %d", n, writers*each*events)
	}
	j.reopened()
	j.all()
}

func oneOperation(t *testing.T, j *journal) {
	const writers, versions = 16, 80
	j.append("op_1", 0, ring("contended"))
	var winners [versions + 1]atomic.Int32
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for v := uint64(1); v < versions; v++ {
				seq, err := j.Append(context.Background(), "op_1", v, shown())
				switch {
				case err == nil:
					winners[v+1].Add(1)
					if seq != v+1 {
						t.Errorf("version %d has seq %d", v+1, seq)
					}
				case human.KindOf(err) != human.Conflict:
					t.Errorf("a lost race gives %v", err)
				}
			}
		})
	}
	wg.Wait()
	for v := 2; v <= versions; v++ {
		if n := winners[v].Load(); n != 1 {
			t.Errorf("version %d has %d winners", v, n)
		}
	}
	if n := len(j.all()); n != versions {
		t.Errorf("%d entries, want %d", n, versions)
	}
}

func readWhileWriting(t *testing.T, j *journal) {
	const writers, each = 8, 40
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			id := human.OperationID(fmt.Sprintf("op_%d", w))
			for v := range uint64(each) {
				e := shown()
				if v == 0 {
					e = ring("followed")
				}
				seq, err := j.Append(context.Background(), id, v, e)
				if err != nil {
					t.Errorf("Append: %v", err)
					return
				}
				if head, err := j.Head(context.Background()); err != nil || head < seq {
					t.Errorf("Head = %d, %v once seq %d is acknowledged", head, err, seq)
				}
			}
		})
	}
	for range 3 {
		wg.Go(func() {
			versions := map[human.OperationID]uint64{}
			for after := uint64(0); after < writers*each; {
				if err := j.Wait(t.Context(), after); err != nil {
					t.Errorf("Wait: %v", err)
					return
				}
				for e, err := range j.Read(t.Context(), after) {
					if err != nil {
						t.Errorf("Read: %v", err)
						return
					}
					if e.Seq != after+1 || e.Version != versions[e.ID]+1 {
						t.Errorf("after seq %d and version %d comes %v", after, versions[e.ID], e)
						return
					}
					after, versions[e.ID] = e.Seq, e.Version
				}
			}
		})
	}
	wg.Wait()
	j.all()
}

func readBounds(t *testing.T, j *journal) {
	const n = 700 // more than a page of any adapter we know
	j.append("op_1", 0, ring("long"))
	for v := uint64(1); v < n; v++ {
		j.append("op_1", v, shown())
	}
	for _, when := range []string{"from memory", "from the disk"} {
		for _, after := range []uint64{0, 1, 255, 256, 257, n - 1, n, n + 1, n * 2} {
			next := after + 1
			for e, err := range j.Read(context.Background(), after) {
				if err != nil || e.Seq != next {
					t.Fatalf("%s, Read(%d) yields %v, %v, want seq %d", when, after, e, err, next)
				}
				next++
			}
			if want := max(after, n) + 1; next != want {
				t.Errorf("%s, Read(%d) ends before %d, want %d", when, after, next, want)
			}
		}
		j.reopened()
	}
	seen := 0
	for _, err := range j.Read(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		// An append in the midst of reading, by the reader itself, neither blocks nor is read.
		if seen == 0 {
			j.append("op_1", n, shown())
		}
		seen++
	}
	if seen != n {
		t.Errorf("Read yields %d entries, want the %d that were there when it started", seen, n)
	}
	for e, err := range j.Read(context.Background(), 0) {
		if err != nil || e.Seq != 1 {
			t.Errorf("Read yields %v, %v first", e, err)
		}
		break
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for e, err := range j.Read(ctx, 0) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Read with a dead context yields %v, %v", e, err)
		}
	}
}

func waitWakes(t *testing.T, j *journal) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for after := range uint64(10) {
				if err := j.Wait(t.Context(), after); err != nil {
					t.Errorf("Wait(%d): %v", after, err)
				}
				if head, err := j.Head(t.Context()); err != nil || head <= after {
					t.Errorf("Wait(%d) returned at head %d, %v", after, head, err)
				}
			}
		})
	}
	j.append("op_1", 0, ring("wake"))
	for v := uint64(1); v < 10; v++ {
		j.append("op_1", v, shown())
	}
	wg.Wait()
}

func waitEnds(t *testing.T, j *journal) {
	j.append("op_1", 0, ring("wake"))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- j.Wait(ctx, 1) }()
	select {
	case err := <-ended:
		t.Errorf("Wait for an entry that is not there returned %v", err)
	default:
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Wait with an ended context returned %v", err)
	}
}

func deadContext(t *testing.T, j *journal) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := j.Append(ctx, "op_1", 0, ring("dead")); !errors.Is(err, context.Canceled) {
		t.Errorf("Append with a dead context returned %v", err)
	}
	if all := j.all(); len(all) != 0 {
		t.Errorf("Append with a dead context stored %v", all)
	}
	// Contexts that end at any moment leave whole appends or nothing.
	var wg sync.WaitGroup
	for w := range 16 {
		ctx, cancel := context.WithCancel(context.Background())
		wg.Go(func() {
			id := human.OperationID(fmt.Sprintf("op_%d", w))
			if _, err := j.Append(ctx, id, 0, ring("maybe"), reply("maybe"), reply("maybe")); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("Append: %v", err)
			}
		})
		wg.Go(cancel)
	}
	wg.Wait()
	j.append("op_last", 0, ring("after them all"))
	if n := len(j.all()); n%3 != 1 {
		t.Errorf("%d entries: an append was stored in half", n)
	}
}

func reopen(t *testing.T, j *journal) {
	var want []human.Entry
	for round := range uint64(3) {
		for n := range 5 {
			id := human.OperationID(fmt.Sprintf("op_%d", n))
			if round == 0 {
				j.append(id, 0, ring("again"))
			} else {
				j.append(id, round, reply("again"))
			}
		}
		want = j.all()
		j.reopened()
		if got := j.all(); !reflect.DeepEqual(got, want) {
			t.Fatalf("after reopening:\n%v\nwant\n%v", got, want)
		}
	}
	if len(want) != 15 {
		t.Errorf("%d entries, want 15", len(want))
	}
}

// crashDir is the environment variable that tells the test binary to write there until it is killed.
const crashDir = "DESKBELL_JOURNALTEST_DIR"

// crash kills a writing process several times over one journal and checks after each that everything it had
// said to be stored is there, once, and nothing in part.
func crash(t *testing.T, open Opener) {
	dir := t.TempDir()
	type ack struct {
		Seq, Version uint64
		ID           human.OperationID
	}
	var acks []ack
	for round := range 3 {
		var pattern []string
		for part := range strings.SplitSeq(strings.TrimSuffix(t.Name(), "/what_was_acknowledged_outlives_a_kill"), "/") {
			pattern = append(pattern, "^"+part+"$")
		}
		child := exec.Command(os.Args[0], "-test.run="+strings.Join(pattern, "/"), "-test.count=1")
		child.Env = append(os.Environ(), crashDir+"="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		child.Stderr = &said
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		n := 0
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var a ack
			if _, err := fmt.Sscanf(lines.Text(), "ack %d %s %d", &a.Seq, &a.ID, &a.Version); err != nil {
				continue // the last line, cut by the kill, or the test's own
			}
			acks = append(acks, a)
			if n++; n == 150+100*round {
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = child.Wait()
		if n < 150 {
			t.Fatalf("the child ended by itself after %d acknowledgements: %s", n, said.Bytes())
		}
		j := &journal{T: t, Journal: open(t, dir), open: open, dir: dir}
		all := j.all()
		for _, a := range acks {
			if a.Seq > uint64(len(all)) {
				t.Fatalf("round %d: %+v was acknowledged and the journal ends at %d", round, a, len(all))
			}
			if e := all[a.Seq-1]; e.ID != a.ID || e.Version != a.Version {
				t.Fatalf("round %d: %+v was acknowledged, in its place stands %v", round, a, e)
			}
		}
		versions := map[human.OperationID]uint64{}
		for _, e := range all {
			versions[e.ID] = e.Version
		}
		for id, v := range versions {
			if v%3 != 1 {
				t.Errorf("round %d: operation %s has %d entries: an append of three was stored in part", round, id, v)
			}
		}
		// It continues from there.
		ids := slices.Sorted(func(yield func(human.OperationID) bool) {
			for id, v := range versions {
				if v < 13 && !yield(id) {
					return
				}
			}
		})
		if len(ids) == 0 { // all had just ended
			ids, versions["op_after"] = []human.OperationID{"op_after"}, 1
			j.append("op_after", 0, ring("after"))
		}
		j.append(ids[0], versions[ids[0]], reply("a"), reply("b"), reply("c"))
		j.all()
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// appendUntilKilled writes operations of 1, 4, 7, ... entries and prints each acknowledgement of the last
// entry of an append, in one write.
func appendUntilKilled(t *testing.T, j Journal) {
	defer j.Close()
	start, err := j.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			for n := 0; ; n++ {
				id := human.OperationID(fmt.Sprintf("op_%d_%d_%d", start, w, n))
				events := []human.Event{ring("crash")}
				for v := uint64(0); v < 13; v += uint64(len(events)) {
					if v > 0 {
						events = []human.Event{reply("a"), reply("b"), reply(strings.Repeat("c", 3000))}
					}
					if v == 10 {
						events[2] = Answered(t, id, 13)
					}
					seq, err := j.Append(t.Context(), id, v, events...)
					if err != nil {
						t.Errorf("Append: %v", err)
						return
					}
					if _, err := fmt.Fprintf(os.Stdout, "ack %d %s %d\n", seq, id, v+uint64(len(events))); err != nil {
						return // no one listens any more
					}
				}
			}
		})
	}
	wg.Wait()
}

// Bench measures rings, each one durable when it returns, by callers side by side.
func Bench(b *testing.B, open Opener) {
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			j := open(b, b.TempDir())
			defer j.Close()
			b.ResetTimer()
			took := Rings(b, j, callers, "op", b.N)
			b.ReportMetric(float64(b.N)/took.Seconds(), "rings/s")
		})
	}
}

// Rings appends n new operations like those agents ring with, from so many goroutines at a time, and returns
// how long that took. Their ids begin with prefix.
func Rings(tb testing.TB, j queue.Journal, callers int, prefix string, n int) time.Duration {
	tb.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range callers {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				e := ring("Please look at the failing deployment of the billing service and tell me whether to roll back")
				e.At = time.Now()
				e.Request.Details = json.RawMessage(`{"action":"kubectl rollout undo deployment/billing","impact":"one minute of downtime","risk_level":"medium","rollback_plan":"roll forward again"}`)
				if _, err := j.Append(context.Background(), human.OperationID(fmt.Sprintf("%s_%026d", prefix, i)), 0, e); err != nil {
					tb.Errorf("Append: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}
