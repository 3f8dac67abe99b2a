package team

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/pelletier/go-toml/v2"

	"deskbell/backend/human"
	"deskbell/backend/queue/routing"
	"deskbell/backend/store/settings/tomltext"
)

// mostRules is how long the text of the rules may be, in bytes: every desk reads it.
const mostRules = 64 << 10

// ParseRules reads rules as people write them. Its errors are Invalid, and name the line.
func ParseRules(text string) (r routing.Rules, err error) {
	if len(text) > mostRules {
		return r, human.Errorf(human.Invalid, "the rules have more than %d bytes; write fewer", mostRules)
	}
	err = toml.NewDecoder(strings.NewReader(text)).DisallowUnknownFields().Decode(&r)
	var wrong *toml.DecodeError
	var unknown *toml.StrictMissingError
	switch {
	case errors.As(err, &unknown):
		line, _ := unknown.Errors[0].Position()
		return routing.Rules{}, human.Errorf(human.Invalid, "line %d: rules have no %s; correct or delete it", line, strings.Join(unknown.Errors[0].Key(), "."))
	case errors.As(err, &wrong):
		line, _ := wrong.Position()
		return routing.Rules{}, human.Errorf(human.Invalid, "line %d: this is not TOML as rules have it (%s); correct it", line, strings.TrimPrefix(wrong.Error(), "toml: "))
	case err != nil:
		return routing.Rules{}, human.Wrap(human.Invalid, err, "the rules cannot be read: %v", err)
	}
	if err := r.Check(); err != nil {
		return routing.Rules{}, human.Wrap(human.Invalid, err, "line %d: %v", lineOf(text, r, err), err)
	}
	return r, nil
}

// lineOf is the line of what Check says is wrong: the first rule, or list of weeks, with which it is.
func lineOf(text string, r routing.Rules, err error) int {
	at := []string{"second_approval"}
	if (routing.Rules{SecondApproval: r.SecondApproval}).Check() == nil {
		at = []string{"escalation"}
	}
	for i := range slices.Backward(r.OnCall) {
		if (routing.Rules{OnCall: r.OnCall[:i+1]}).Check() != nil {
			at = []string{"on_call", strconv.Itoa(i)}
		}
	}
	for i := range slices.Backward(r.Rules) {
		if (routing.Rules{Rules: r.Rules[:i+1]}).Check() != nil {
			at = []string{"rule", strconv.Itoa(i)}
		}
	}
	var wrong *human.Error
	if errors.As(err, &wrong) {
		_, key, _ := strings.Cut(wrong.Field, ".")
		at = append(at, key)
	}
	line := 1
	for _, p := range tomltext.Locate([]byte(text)) {
		if slices.Equal(p.Path, at) || slices.Equal(p.Path, at[:len(at)-1]) {
			line = p.Line // the head of a table comes before its keys
		}
	}
	return line
}

// bucket is one of the team's; an error says that there is no connection.
func (j *Journal) bucket(ctx context.Context, name string) (jetstream.KeyValue, error) {
	nc, err := j.Connection()
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(j.o.Patience))
	if err != nil {
		return nil, err
	}
	kv, err := js.KeyValue(ctx, name)
	return kv, notHeard(err)
}

// Connection is the connection to the team; an error says that there is none.
func (j *Journal) Connection() (*nats.Conn, error) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if !j.status.Online || j.js == nil {
		return nil, human.Errorf(human.Unavailable, "this desk has no connection to its team; try again once it is connected")
	}
	return j.js.Conn(), nil
}

// notHeard is the error for whoever changes something of the team.
func notHeard(err error) error {
	var wrong *jetstream.APIError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrKeyExists), errors.As(err, &wrong) && wrong.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence:
		return human.Wrap(human.Conflict, err, "someone else changed this meanwhile; read it again, then change it")
	default:
		return human.Wrap(human.Unavailable, err, "the team's server does not answer; try again")
	}
}

// SetRules replaces the team's rules, where they are those of a revision of Directory.Rules. It returns once this desk goes by them.
func (j *Journal) SetRules(ctx context.Context, text string, revision uint64) error {
	if j.o.Role != LeadRole {
		return human.Errorf(human.Denied, "only a lead changes the team's rules")
	}
	if _, err := ParseRules(text); err != nil {
		return err
	}
	kv, err := j.bucket(ctx, Rules)
	if err != nil {
		return err
	}
	if revision, err = kv.Update(ctx, rulesKey, []byte(text), revision); err != nil {
		return notHeard(err)
	}
	return j.learned(ctx, func(d *Directory) bool { return d.revision >= revision })
}

// SetMember changes what the team knows of a member, but not their name and role: a lead of all, others of themselves. It returns once
// this desk goes by it.
func (j *Journal) SetMember(ctx context.Context, name string, change func(*routing.Member)) (m routing.Member, err error) {
	key := KeyOf(name)
	switch {
	case j.o.Role == LeadRole:
	case j.o.Role == OperatorRole && name == j.member:
		key = j.o.Desk // KeyOf their name is the leads' to write
	default:
		return m, human.Errorf(human.Denied, "only a lead changes what the team knows of another member")
	}
	kv, err := j.bucket(ctx, Members)
	if err != nil {
		return m, err
	}
	j.directory.mu.Lock()
	m, is := j.directory.membersNow()[name]
	revision := j.directory.entries[key].revision
	j.directory.mu.Unlock()
	if !is {
		return m, human.Errorf(human.NotFound, "%s is not in the team", name)
	}
	change(&m)
	if err := m.Check(); err != nil {
		return m, err
	}
	value, err := json.Marshal(m)
	if err != nil {
		return m, err
	}
	if revision, err = kv.Update(ctx, key, value, revision); err != nil {
		return m, notHeard(err)
	}
	return m, j.learned(ctx, func(d *Directory) bool { return d.entries[key].revision >= revision })
}

// learned waits until the directory has what was written.
func (j *Journal) learned(ctx context.Context, has func(*Directory) bool) error {
	ctx, cancel := context.WithTimeout(ctx, j.o.Patience)
	defer cancel()
	for {
		j.directory.mu.Lock()
		is, changed := has(j.directory), j.directory.changed
		j.directory.mu.Unlock()
		if is {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return human.Wrap(human.Unavailable, ctx.Err(), "the change is stored, and this desk does not go by it yet")
		}
	}
}
