package app

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"deskbell/backend/human"
	"deskbell/backend/queue/asking"
	"deskbell/backend/queue/later"
	"deskbell/backend/queue/routing"
	"deskbell/backend/record/library"
	"deskbell/backend/store/team"
	"deskbell/backend/store/team/hub"
)

// A membership is what this desk has of the team it is in, if any.
type membership struct {
	app *App

	credentials hub.Credentials
	journal     *team.Journal // nil: in no team
	left        atomic.Bool   // there is a team that this desk left
	later       *later.List   // what is decided while the team cannot be reached

	gone    context.Context // ends once this desk has left
	leaves  context.CancelFunc
	running sync.WaitGroup // the journal's Run
	moving  sync.Mutex     // held while the desk joins or leaves

	mu      sync.Mutex
	joined  human.DeskState // since the start, to count from the next one; or left
	changed chan struct{}
	before  map[string]map[string]int // how many requests each member answered lately, by project and name; replaced, never changed
	said    chan struct{}             // closed and replaced when what the desk says of its member may be different
}

// openTeam puts the team's journal over the database, where this desk is in a team. Credentials that this Deskbell did not write count
// for nothing: another program, such as an agent, could make this a desk of a team of its own, and answer itself there. Without
// credentials the desk has left its team.
func (a *App) openTeam(ctx context.Context) error {
	a.team = &membership{app: a, changed: make(chan struct{}), said: make(chan struct{})}
	a.team.keepsLater()
	a.team.gone, a.team.leaves = context.WithCancel(context.WithoutCancel(ctx))
	c, err := hub.Load(a.Dir)
	if err == nil {
		err = a.receipts().CheckSeal(teamSeal, c.Text(), c.Seal)
	}
	if err != nil {
		if human.KindOf(err) != human.NotFound {
			a.log.Error("this desk is not connected to a team, because its credentials are not those that Deskbell wrote", "err", err)
		}
		_, err = a.team.stand(ctx, "", "")
		return err
	}
	if _, err := a.team.stand(ctx, c.Identity(), c.Desk); err != nil {
		return err
	}
	a.team.credentials = c
	a.Config.Config.OnUpdate(func() {
		a.team.mu.Lock()
		defer a.team.mu.Unlock()
		close(a.team.said)
		a.team.said = make(chan struct{})
	})
	a.settings.Operator.Name = c.Member
	a.team.journal, err = team.New(a.store, team.Options{
		Desk: c.Desk, Role: c.Role, Rules: c.Rules, Log: a.log, Connect: func() (*nats.Conn, error) { return c.Connect(team.Settings(c.Desk)...) },
		Keys: a.receiptKeys.Own, Learn: a.receiptKeys.Learn, Here: a.team.here,
		Key: c.TeamKey, Give: a.team.give, Named: a.team.named,
		Delete: func(ctx context.Context, by human.Actor, ids []human.OperationID) error {
			return a.retention.DeleteAlso(ctx, by, ids)
		},
	})
	return err
}

// teamSeal is what the seal of the credentials is for.
const teamSeal = "deskbell: the credentials of a desk of a team"

// jobs are what runs, most of it while the desk is in a team.
func (m *membership) jobs(jobs map[string]func(context.Context) error) {
	jobs["what was decided offline"] = m.sendLater
	if m.journal == nil {
		return
	}
	m.running.Add(1)
	jobs["team"] = m.untilLeft(func(ctx context.Context) error {
		defer m.running.Done()
		return m.journal.Run(ctx)
	})
	jobs["requests of the team"] = m.app.queue.Learn
	jobs["rules of the team"] = m.untilLeft(m.keepRules)
	jobs["who answered before"] = m.untilLeft(m.countAnswers)
	jobs["who is asked"] = m.untilLeft(func(ctx context.Context) error {
		return asking.Run(ctx, asking.Deps{Queue: m.app.queue, Team: m.members, Now: time.Now, Log: m.app.log})
	})
}

// laterSeal is what the seal of a decision that waits is for.
const laterSeal = "deskbell: a decision that waits for the team"

// keepsLater makes the list of what is decided while the team cannot be reached.
func (m *membership) keepsLater() {
	receipts := m.app.receipts()
	m.later = later.New(later.Deps{
		Store: m.app.store, Log: m.app.log, Changed: m.touch,
		Seal:  func(text []byte) string { return receipts.SealText(laterSeal, text) },
		Check: func(text []byte, seal string) error { return receipts.CheckSeal(laterSeal, text, seal) },
	})
}

// touch has those look again who follow State.
func (m *membership) touch() {
	if m.journal != nil {
		m.journal.Touch()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.changed)
	m.changed = make(chan struct{})
}

// laters are the decisions that are kept.
func (m *membership) laters(ctx context.Context) []human.Later {
	all, err := m.later.All(ctx)
	if err != nil {
		m.app.log.Error("what waits for the team cannot be read", "err", err)
	}
	return all
}

// Later implements api.Team.
func (m *membership) Later(ctx context.Context, id human.OperationID) (*human.Later, bool) {
	l, err := m.later.Of(ctx, id)
	if err != nil {
		m.app.log.Error("what waits for the team cannot be read", "operation_id", id, "err", err)
	}
	if m.journal == nil {
		return l, false
	}
	status, _ := m.journal.Status()
	at, err := m.app.store.Standing(ctx, id)
	return l, err == nil && at.Kept() && !status.Online
}

// Discard implements api.Team.
func (m *membership) Discard(ctx context.Context, id human.OperationID) error {
	return m.later.Discard(ctx, id)
}

// sendLater does what was decided while the team could not be reached, each time that it can be, until ctx ends. In no team, all of it
// comes too late.
func (m *membership) sendLater(ctx context.Context) error {
	for {
		online, changed := true, (<-chan struct{})(nil)
		if m.journal != nil {
			var status team.Status
			status, changed = m.journal.Status()
			online = status.Online
		}
		if online {
			if err := m.later.Send(ctx, m.app.queue); err != nil && ctx.Err() == nil {
				m.app.log.Warn("what was decided offline is not sent yet", "err", err)
			}
		}
		again := time.NewTimer(time.Minute)
		select {
		case <-changed:
		case <-again.C:
		case <-ctx.Done():
		}
		again.Stop()
		if ctx.Err() != nil {
			return nil
		}
	}
}

// untilLeft is a job that also ends once this desk has left.
func (m *membership) untilLeft(run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(m.gone, cancel)()
		return run(ctx)
	}
}

// here is what this desk says of its member: away for as long as they do not want to be disturbed.
func (m *membership) here() (team.Here, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return team.Here{AwayUntil: m.app.now().Notifications.Quiet()}, m.said
}

// give reads a file that another desk asks for.
func (m *membership) give(ctx context.Context, asker string, r team.Reader, a team.Ask) (io.Reader, error) {
	entries, err := m.operation(ctx, a.Operation)
	if err == nil && a.Recording != nil {
		return m.giveRecording(ctx, asker, r, a, entries)
	}
	if err == nil {
		err = a.May(asker, r, entries)
	}
	if err != nil {
		return nil, err
	}
	if a.Attachment != "" {
		data, err := m.app.attachments.Read(ctx, a.Attachment)
		return bytes.NewReader(data), err
	}
	var want library.Wanted
	if err := json.Unmarshal(a.Evidence, &want); err != nil {
		return nil, human.Wrap(human.Invalid, err, "what is wanted cannot be read")
	}
	var given bytes.Buffer
	return &given, m.app.library.Give(ctx, a.Operation, want, &given)
}

// operation returns the entries of an operation; NotFound where it is of a team that this desk left: this one's desks have nothing of it, and get nothing.
func (m *membership) operation(ctx context.Context, op human.OperationID) ([]human.Entry, error) {
	at, err := m.app.store.Standing(ctx, op)
	if err == nil && at.Elsewhere {
		err = human.Errorf(human.NotFound, "operation %s is of a team that this desk left, and what is on other desks there cannot be fetched any more", op)
	}
	if err != nil {
		return nil, err
	}
	return m.app.store.Operation(ctx, op)
}

// mostEvidence is how many bytes a picture, or all evidence or all actions in a recording, may have.
const mostEvidence = 32 << 20

// evidence writes what the desk that made a recording gives of it.
func (m *membership) evidence(ctx context.Context, op human.OperationID, want library.Wanted, w io.Writer) error {
	desk, err := m.holder(ctx, op, want.Recording)
	if err != nil {
		return err
	}
	text, err := json.Marshal(want)
	if err != nil {
		return err
	}
	return m.journal.Fetch(ctx, desk, team.Ask{Operation: op, Evidence: text}, mostEvidence, w)
}

// holder is the other desk that made a recording of an operation.
func (m *membership) holder(ctx context.Context, op human.OperationID, id human.RecordingID) (desk string, err error) {
	entries, err := m.operation(ctx, op)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if e.Event.Type == human.Recorded && e.Event.Recording == id && e.Event.Desk != "" {
			return e.Event.Desk, nil
		}
	}
	return "", human.Errorf(human.NotFound, "no recording %s", human.OneLine(string(id), 80))
}

// named notes which files are on another desk. What cannot be the name of a file counts for nothing.
func (m *membership) named(ctx context.Context, op human.OperationID, files []human.Attachment) error {
	for _, f := range files {
		if err := m.app.attachments.Expect(ctx, op, f.ID); err != nil && human.KindOf(err) != human.NotFound {
			return err
		}
	}
	return nil
}

// deleteForAll has all desks of the team delete operations.
func (m *membership) deleteForAll(ctx context.Context, ids []human.OperationID) error {
	if m.journal == nil {
		return errNoTeam()
	}
	return m.journal.DeleteForAll(ctx, ids)
}

// fetch returns a file from the first desk that gives it.
func (m *membership) fetch(ctx context.Context, entries []human.Entry, id human.AttachmentID) ([]byte, error) {
	if _, err := m.operation(ctx, entries[0].ID); err != nil {
		return nil, err
	}
	err := error(human.Errorf(human.NotFound, "no attachment %s", id))
	for _, desk := range team.Holders(entries, id) {
		var file bytes.Buffer
		if err = m.journal.Fetch(ctx, desk, team.Ask{Operation: entries[0].ID, Attachment: id}, human.LargestAttachment, &file); err == nil {
			return file.Bytes(), nil
		}
	}
	return nil, err
}

// members are who could be asked: no one while this desk is not connected, so that new requests of its agents are its own.
func (m *membership) members() (routing.Rules, routing.Team, <-chan struct{}) {
	rules, now, changed := m.journal.Directory().Team()
	if status, changed := m.journal.Status(); !status.Online {
		return rules, routing.Team{}, changed
	}
	for name, claims := range m.app.queue.Claims() {
		if there, is := now.Presence[name]; is {
			there.Claims = claims
			now.Presence[name] = there
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now.Before = m.before
	return rules, now, changed
}

// keepRules keeps the team's rules with the credentials until ctx ends, so that they count from the next start on.
func (m *membership) keepRules(ctx context.Context) error {
	for {
		_, _, changed := m.journal.Directory().Team()
		if err := m.saveRules(); err != nil {
			m.app.log.Error("the team's rules are not stored", "err", err)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

func (m *membership) saveRules() error {
	_, text, _ := m.journal.Directory().Rules()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.credentials.Rules == text || m.gone.Err() != nil {
		return nil
	}
	c := m.credentials
	c.Rules = text
	c.Seal = m.app.receipts().SealText(teamSeal, c.Text())
	if err := c.Save(m.app.Dir); err != nil {
		return err
	}
	m.credentials.Rules, m.credentials.Seal = c.Rules, c.Seal // the rest is read without mu
	return nil
}

// secondApproval is the risk from which on two people approve: the team's rule or this desk's own setting, whichever is stricter.
func (m *membership) secondApproval() human.Risk {
	own := human.Risk(m.app.now().Team.SecondApproval)
	if m.journal == nil {
		return own
	}
	rules, _, _ := m.journal.Directory().Rules()
	return rules.Stricter(own)
}

// Rules implements api.Team.
func (m *membership) Rules() (rules human.TeamRules, err error) {
	if m.journal == nil {
		return rules, errNoTeam()
	}
	_, rules.Text, rules.Revision = m.journal.Directory().Rules()
	return rules, nil
}

// SetRules implements api.Team.
func (m *membership) SetRules(ctx context.Context, by human.Actor, rules human.TeamRules) error {
	if m.journal == nil {
		return errNoTeam()
	}
	err := m.journal.SetRules(ctx, rules.Text, rules.Revision)
	if err == nil {
		m.app.log.Info("the team's rules were changed", "by", by.Name)
	}
	return err
}

// SetMember implements api.Team.
func (m *membership) SetMember(ctx context.Context, by human.Actor, name string, change routing.MemberChange) (routing.Member, error) {
	if m.journal == nil {
		return routing.Member{}, errNoTeam()
	}
	now, err := m.journal.SetMember(ctx, name, change.Change)
	if err == nil {
		m.app.log.Info("what the team knows of a member was changed", "member", name, "by", by.Name)
	}
	return now, err
}

func errNoTeam() error {
	return human.Errorf(human.Conflict, "this desk is in no team; join one first")
}

// mostWaiting is how many waiting requests are counted.
const mostWaiting = 1000

// State implements api.Team.
func (m *membership) State() (human.DeskState, <-chan struct{}) {
	decided := human.Laters(m.laters(context.Background()))
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.journal == nil || m.joined.Left {
		now := m.joined
		now.Later = decided
		return now, m.changed
	}
	s, changed := m.journal.Status()
	c := m.credentials
	now := human.DeskState{Team: c.Team, Member: c.Member, Desk: c.Desk, Role: string(c.Role), Online: s.Online, Since: s.Since, Problem: s.Problem, Behind: s.Behind, Later: decided}
	if !s.Online {
		waiting, err := m.app.store.Waiting(context.Background(), mostWaiting)
		if err != nil {
			m.app.log.Error("what waits for the team cannot be counted", "err", err)
		}
		now.Waiting = len(waiting)
	}
	return now, changed
}

// Check implements api.Team.
func (m *membership) Check(ctx context.Context) (human.TeamCheck, error) {
	if m.journal == nil || m.gone.Err() != nil {
		here, err := team.Copy(ctx, m.app.store)
		return human.TeamCheck{Here: here}, err
	}
	return m.journal.Check(ctx)
}

// Join implements api.Team.
func (m *membership) Join(ctx context.Context, by human.Actor, link string) error {
	m.moving.Lock()
	defer m.moving.Unlock()
	switch now, _ := m.State(); {
	case now.Left:
		return errRestart(now.Team)
	case now.Team != "":
		return human.Errorf(human.Conflict, "this desk is in the team %s; it can be in one only", now.Team)
	}
	c, err := hub.Join(ctx, link, "")
	if err != nil {
		return err
	}
	c.Seal = m.app.receipts().SealText(teamSeal, c.Text())
	if err := c.Save(m.app.Dir); err != nil {
		return err
	}
	m.app.log.Info("this desk joined a team, from the next start on", "team", c.Team, "member", c.Member, "by", by.Name)
	m.changes(human.DeskState{Team: c.Team, Member: c.Member, Desk: c.Desk, Role: string(c.Role), Restart: true})
	return nil
}

// changes notes how the desk stands until the next start.
func (m *membership) changes(now human.DeskState) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.joined = now
	close(m.changed)
	m.changed = make(chan struct{})
}

func errRestart(name string) error {
	return human.Errorf(human.Conflict, "this desk left the team %s; start Deskbell again first", name)
}
