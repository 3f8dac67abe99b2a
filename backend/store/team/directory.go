package team

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
	"deskbell/backend/queue/routing"
)

// How often a desk says that it is there, and how long after the last time it counts as there.
const (
	hereEvery = 10 * time.Second
	hereFor   = 30 * time.Second
)

// rulesKey is the one key of Rules.
const rulesKey = "rules"

// A Here is what a desk says of its member.
type Here struct {
	AwayUntil time.Time `json:"away_until,omitzero"` // not asked before; Off: not asked at all
	Off       bool      `json:"off,omitempty"`
}

// A Directory is who is in the team and who is there, as far as this desk knows. It is safe for concurrent use.
type Directory struct {
	now func() time.Time

	mu      sync.Mutex
	entries map[string]entry   // by key: of members by KeyOf, which the hub and leads write, and by a desk's name, which the desk writes
	desks   map[string]present // by name
	rules   routing.Rules
	text    string // of the rules
	changed chan struct{}

	revision uint64 // of the rules; 0: none were written yet, or they are those of an earlier run
}

// An entry is what the team knows of a member, or what a member says of themselves.
type entry struct {
	routing.Member
	revision uint64 // the latest one of a member counts
}

// A present is what a desk said last.
type present struct {
	Here
	member string
	at     time.Time // when it came, by this desk's clock
}

// newDirectory begins with the rules as this desk knew them last.
func newDirectory(now func() time.Time, rules string) *Directory {
	r, err := ParseRules(rules)
	if err != nil { // such as of a later version: too strict until this desk is connected, rather than too weak
		r.SecondApproval = human.LowRisk
	}
	return &Directory{now: now, entries: map[string]entry{}, desks: map[string]present{}, rules: r, text: rules, changed: make(chan struct{})}
}

// Rules are the team's rules as they were written, and their revision for Journal.SetRules.
func (d *Directory) Rules() (rules routing.Rules, text string, revision uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rules, d.text, d.revision
}

// membersNow are the members by name. The caller holds mu.
func (d *Directory) membersNow() map[string]routing.Member {
	now := map[string]entry{}
	for key, e := range d.entries {
		if key == KeyOf(e.Name) {
			now[e.Name] = e
		}
	}
	for key, e := range d.entries {
		if at, is := now[e.Name]; is && key != KeyOf(e.Name) && e.revision > at.revision {
			e.Role = d.entries[KeyOf(e.Name)].Role // no one says that of themselves
			now[e.Name] = e
		}
	}
	members := make(map[string]routing.Member, len(now))
	for name, e := range now {
		members[name] = e.Member
	}
	return members
}

// Team returns the rules and the team as they are now, and a channel that is closed when someone says something else. That a desk
// falls silent closes nothing: ask again after a while.
func (d *Directory) Team() (routing.Rules, routing.Team, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := routing.Team{Members: slices.SortedFunc(maps.Values(d.membersNow()), func(a, b routing.Member) int { return strings.Compare(a.Name, b.Name) }), Presence: map[string]routing.Presence{}}
	for _, p := range d.desks {
		now := t.Presence[p.member]
		now.Connected = now.Connected || !p.Off && d.now().Sub(p.at) < hereFor
		if p.AwayUntil.After(now.AwayUntil) {
			now.AwayUntil = p.AwayUntil
		}
		if p.at.After(now.LastSeen) {
			now.LastSeen = p.at
		}
		t.Presence[p.member] = now
	}
	return d.rules, t, d.changed
}

// note changes the directory.
func (d *Directory) note(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
	close(d.changed)
	d.changed = make(chan struct{})
}

// learnMember, learnHere and learnRules take in what the team's buckets have.
func (d *Directory) learnMember(e jetstream.KeyValueEntry) error {
	if e.Operation() != jetstream.KeyValuePut {
		d.note(func() { delete(d.entries, e.Key()) })
		return nil
	}
	var m routing.Member
	if err := json.Unmarshal(e.Value(), &m); err != nil {
		return err
	}
	if member, err := MemberOf(e.Key()); KeyOf(m.Name) != e.Key() && (err != nil || member != m.Name) {
		return human.Errorf(human.Invalid, "what is known of %s stands under another name", m.Name)
	}
	if err := m.Check(); err != nil {
		return err
	}
	d.note(func() { d.entries[e.Key()] = entry{m, e.Revision()} })
	return nil
}

func (d *Directory) learnHere(e jetstream.KeyValueEntry) error {
	if e.Operation() != jetstream.KeyValuePut {
		d.note(func() { delete(d.desks, e.Key()) })
		return nil
	}
	member, err := MemberOf(e.Key())
	var h Here
	if err == nil {
		err = json.Unmarshal(e.Value(), &h)
	}
	if err == nil {
		d.note(func() { d.desks[e.Key()] = present{h, member, d.now()} })
	}
	return err
}

func (d *Directory) learnRules(e jetstream.KeyValueEntry) error {
	if e.Key() != rulesKey {
		return nil
	}
	var text string
	if e.Operation() == jetstream.KeyValuePut {
		text = string(e.Value())
	}
	r, err := ParseRules(text)
	if err == nil {
		d.note(func() { d.rules, d.text, d.revision = r, text, e.Revision() })
	}
	return err
}

// follow has each called for what a bucket holds, and then for every change of it until done is called, which waits. It returns once each
// has seen what was there.
func follow(ctx context.Context, bucket jetstream.KeyValue, each func(jetstream.KeyValueEntry)) (done func(), err error) {
	watch, err := bucket.WatchAll(ctx)
	if err != nil {
		return nil, err
	}
	for entry := range watch.Updates() {
		if entry == nil {
			break // that was all
		}
		each(entry)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for entry := range watch.Updates() {
			if entry != nil {
				each(entry)
			}
		}
	}()
	return func() {
		_ = watch.Stop() // its connection may have ended before
		<-ended
	}, nil
}

// meet learns who is in the team and who is there, and says that this desk is, until done is called.
func (j *Journal) meet(ctx context.Context, js jetstream.JetStream) (done func(), err error) {
	if j.o.Here == nil {
		return func() {}, nil
	}
	var ends []func()
	done = func() {
		for _, end := range slices.Backward(ends) {
			end()
		}
	}
	for _, b := range []struct {
		name  string
		learn func(jetstream.KeyValueEntry) error
	}{{Members, j.directory.learnMember}, {Rules, j.directory.learnRules}, {Presence, j.directory.learnHere}} {
		bucket, err := js.KeyValue(ctx, b.name)
		var end func()
		if err == nil {
			end, err = follow(ctx, bucket, func(e jetstream.KeyValueEntry) {
				if err := b.learn(e); err != nil {
					j.o.Log.Warn("something that the team says of itself counts for nothing", "bucket", b.name, "key", e.Key(), "reason", err)
				}
			})
		}
		if err != nil {
			done()
			return nil, err
		}
		ends = append(ends, end)
	}
	if j.o.Role == AuditorRole {
		return done, nil
	}
	bucket, err := js.KeyValue(ctx, Presence)
	if err != nil {
		done()
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var saying sync.WaitGroup
	saying.Go(func() { j.sayHere(ctx, bucket) })
	ends = append(ends, func() { cancel(); saying.Wait() })
	return done, nil
}

// sayHere says that this desk is there, again and again, and at once when what it says is different, until ctx ends.
func (j *Journal) sayHere(ctx context.Context, bucket jetstream.KeyValue) {
	again := time.NewTicker(hereEvery)
	defer again.Stop()
	for {
		here, changed := j.o.Here()
		value, err := json.Marshal(here)
		if err == nil {
			_, err = bucket.Put(ctx, j.o.Desk, value)
		}
		if err != nil && ctx.Err() == nil {
			j.o.Log.Info("the team does not learn that this desk is there", "reason", err)
		}
		select {
		case <-again.C:
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
