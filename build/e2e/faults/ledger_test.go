//go:build faults && linux

package faults

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// An operation is the JSON object of one, as it came over the API.
type operation map[string]any

func (o operation) id() string { s, _ := o["operation_id"].(string); return s }

// version is also how many entries of the journal the operation has.
func (o operation) version() int { n, _ := o["version"].(float64); return int(n) }

// An acked is what was acknowledged of one operation.
type acked struct {
	last   operation       // its newest acknowledged state
	events json.RawMessage // read while no one changed it; nil under load
	late   int             // the newest version whose request began after the fault was there
}

// A ledger is what a server acknowledged.
type ledger struct {
	key string // of the agent

	mu                      sync.Mutex
	ops                     map[string]*acked
	fault                   bool // it is there
	acks, lateAcks, refused int  // acknowledgements; those whose request began after the fault, and calls after it that failed
}

// note takes down the reply to a call that began before or after the fault.
func (l *ledger) note(raw []byte, late bool) {
	var op operation
	l.mu.Lock()
	defer l.mu.Unlock()
	if json.Unmarshal(raw, &op) != nil || op.id() == "" {
		l.refused++
		return
	}
	a := l.ops[op.id()]
	if a == nil {
		a = &acked{}
		l.ops[op.id()] = a
	}
	if op.version() > a.last.version() {
		a.last, a.events = op, nil
	}
	l.acks++
	if late {
		l.lateAcks++
		a.late = max(a.late, op.version())
	}
}

func (l *ledger) begins() (late bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault
}

func (l *ledger) fails() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault {
		l.refused++
	}
}

// holds reads the counts at one moment.
func (l *ledger) holds(what func(*ledger) bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return what(l)
}

// Words of several alphabets, so that a changed byte is not always a changed letter of ASCII.
var words = strings.Fields("orchid harbour naïve Straße 请求 批准 ночь копия snow 🔔 ledger window")

// request makes the n-th request of a client; about one in eight is larger than a page of the database.
func request(random *rand.Rand, client, n int) map[string]any {
	var text strings.Builder
	fmt.Fprintf(&text, "ring %d-%d:", client, n)
	most := 200
	if random.IntN(8) == 0 {
		most = 2000
	}
	for range 20 + random.IntN(most) {
		text.WriteString(" " + words[random.IntN(len(words))])
	}
	return map[string]any{
		"action_type": "feedback", "description": text.String(), "timeout": 0, "priority": random.IntN(10),
		"details": map[string]any{"client": client, "n": n, "text": words[random.IntN(len(words))]},
	}
}

// ring has one client send requests until enough says so.
func (l *ledger) ring(s *server, seed uint64, client int, enough func(n int) bool) {
	random := rand.New(rand.NewPCG(seed, uint64(client)))
	for n := 0; !enough(n); n++ {
		late := l.begins()
		status, raw, err := s.call(http.MethodPost, "/api/human/invoke", l.key, request(random, client, n))
		if err == nil && status == http.StatusCreated {
			l.note(raw, late)
			continue
		}
		l.fails()
		<-time.After(2 * time.Millisecond) // a server that fails at once would be asked thousands of times a second
	}
}

// answer has an operator answer what waits, until enough says so.
func (l *ledger) answer(s *server, enough func(n int) bool) {
	for n := 0; !enough(n); {
		var page struct{ Operations []operation }
		if s.must(http.StatusOK, http.MethodGet, "/api/human/operations?state=pending&order=newest&limit=5", s.token, nil, &page) != nil || len(page.Operations) == 0 {
			n++
			<-time.After(2 * time.Millisecond)
			continue
		}
		for _, op := range page.Operations {
			n++
			late := l.begins()
			status, raw, err := s.call(http.MethodPost, "/api/human/complete", s.token, map[string]any{"operation_id": op.id(), "human_input": fmt.Sprintf("answer %d ✓ 好", n)})
			if err == nil && status == http.StatusOK {
				l.note(raw, late)
			} else {
				l.fails()
			}
		}
	}
}

// read replaces what is known of each operation by what the server serves, with its entries. Nothing may change meanwhile.
func (l *ledger) read(s *server) error {
	for id, a := range l.ops {
		a.last = nil
		if err := s.must(http.StatusOK, http.MethodGet, "/api/human/operations/"+id, s.token, nil, &a.last); err != nil {
			return err
		}
		if err := s.must(http.StatusOK, http.MethodGet, "/api/human/operations/"+id+"/events", s.token, nil, &a.events); err != nil {
			return err
		}
	}
	return nil
}

// A loss is what differs from what was acknowledged.
type loss struct {
	ops, entries     int // acknowledged
	missing, changed int // operations that are not served, and that are served otherwise
	altered          int // of the latter, those that never were as they are served
	lost             int // entries that are not served as they were acknowledged
	late             int // operations whose newest acknowledged change began after the fault and is lost
	notUTF8          int // replies
	acceptsNothing   string
	example          string // of a difference
}

func (l loss) whole() bool { return l.missing+l.changed+l.lost+l.notUTF8 == 0 }

// fixed are the fields that no later change of an operation changes.
var fixed = []string{"operation_id", "action_type", "description", "agent_id", "priority", "digest", "created_at", "on_timeout", "details", "context", "idempotency_key"}

// differs names the first field that is not as it was acknowledged.
func differs(was, is operation) string {
	names := fixed
	if was.version() == is.version() {
		names = nil
		for _, o := range []operation{was, is} {
			for name := range o {
				if name != "presence" { // it says who waits just now
					names = append(names, name)
				}
			}
		}
		slices.Sort(names)
	}
	for _, name := range names {
		if !reflect.DeepEqual(was[name], is[name]) {
			return fmt.Sprintf("%s of %s is %.80q, was %.80q", name, was.id(), fmt.Sprint(is[name]), fmt.Sprint(was[name]))
		}
	}
	return ""
}

// compare asks a server for all that was acknowledged.
func (l *ledger) compare(s *server) (found loss) {
	for id, a := range l.ops {
		found.ops++
		found.entries += a.last.version()
		status, raw, err := s.call(http.MethodGet, "/api/human/operations/"+id, s.token, nil)
		if !utf8.Valid(raw) {
			found.notUTF8++
		}
		var is operation
		if err != nil || status != http.StatusOK || json.Unmarshal(raw, &is) != nil {
			found.missing++
			found.lost += a.last.version()
			found.example = fmt.Sprintf("%s: %d %.200s %v", id, status, raw, err)
			if a.late > 0 {
				found.late++
			}
			continue
		}
		different, gone, altered := differs(a.last, is), max(0, a.last.version()-is.version()), 0
		if is.version() < a.late {
			found.late++
		}
		if a.events != nil {
			status, events, err := s.call(http.MethodGet, "/api/human/operations/"+id+"/events", s.token, nil)
			if !utf8.Valid(events) {
				found.notUTF8++
			}
			if err != nil || status != http.StatusOK {
				events = nil
			}
			notThere, otherwise := unlike(a.events, events)
			if gone, altered = max(gone, notThere), otherwise; gone+altered > 0 {
				different += fmt.Sprintf(" %d entries of %s are not served, %d otherwise: %d", gone, id, altered, status)
			}
		}
		found.lost += gone + altered
		if different != "" || gone > 0 {
			found.changed++
			found.example = different
		}
		// An operation whose last entries are lost is served as it was before them; all other differences are made up.
		if altered > 0 || (different != "" && gone == 0) || slices.ContainsFunc(fixed, func(name string) bool { return !reflect.DeepEqual(a.last[name], is[name]) }) {
			found.altered++
		}
	}
	var made operation
	if err := s.must(http.StatusCreated, http.MethodPost, "/api/human/invoke", l.key, request(rand.New(rand.NewPCG(0, 0)), 99, 0), &made); err != nil {
		found.acceptsNothing = err.Error()
	}
	return found
}

// unlike counts the entries that are not served, and those that are served otherwise than before.
func unlike(was, is []byte) (gone, altered int) {
	read := func(raw []byte) map[uint64]string {
		var page struct{ Events []json.RawMessage }
		_ = json.Unmarshal(raw, &page) // what cannot be read has no entries
		entries := map[uint64]string{}
		for _, e := range page.Events {
			var head struct{ Seq uint64 }
			_ = json.Unmarshal(e, &head)
			entries[head.Seq] = string(e)
		}
		return entries
	}
	now := read(is)
	for seq, text := range read(was) {
		switch other, there := now[seq]; {
		case !there:
			gone++
		case other != text:
			altered++
		}
	}
	return gone, altered
}
