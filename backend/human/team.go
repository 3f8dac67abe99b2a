package human

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// ApprovalTime is how long the first of two approvals counts: the second has to come within it.
const ApprovalTime = 15 * time.Minute

// A TeamState is what an operation has of the people who share it.
type TeamState struct {
	RequestedBy     string     `json:"requested_by,omitempty" doc:"The operator whose agent asked, in a team: they cannot approve it where two have to."`
	To              string     `json:"to,omitempty" doc:"In a team: no agent asked, but the operator requested_by, and this one alone can answer: it is for a recording, which details names."`
	ApprovalsNeeded int        `json:"approvals_needed,omitempty" doc:"How many people have to approve it; absent: one."`
	Approvals       []Approval `json:"approvals,omitempty" doc:"For operators: the first of two approvals, which counts until its until. The second is the result."`
	HandOver        *HandOver  `json:"hand_over,omitempty" doc:"For operators: whom it was handed over to and who has not claimed it yet."`
	Routing         []Routing  `json:"routing,omitempty" doc:"For operators: who was asked and why, in order."`
	Frozen          bool       `json:"frozen,omitempty" doc:"For operators: it is from before this desk left its team. It can be read, and not changed."`
}

// A HandOver is an operation on its way from the operator who has claimed it to another.
type HandOver struct {
	From string    `json:"from" doc:"Who has it until the other claims it."`
	To   string    `json:"to"`
	By   string    `json:"by" doc:"Who handed it over: mostly from."`
	Note string    `json:"note,omitempty"`
	At   time.Time `json:"at"`
}

// An Approval is the first of two.
type Approval struct {
	By     Actor     `json:"by"`
	At     time.Time `json:"at"`
	Until  time.Time `json:"until" doc:"When it lapses."`
	Digest string    `json:"digest" doc:"Of the bytes that were approved."`
	Answer Answer    `json:"answer"`
}

// A Routing is one step of asking people.
type Routing struct {
	Step   int       `json:"step" doc:"Its place, from 1."`
	Names  []string  `json:"names" doc:"Who is asked."`
	Reason Sentence  `json:"reason" doc:"Why they are."`
	At     time.Time `json:"at,omitzero"`
}

// teamEvents are events of every kind of operation, beside those of lives.
var teamEvents map[EventType]lifeEvent

func init() { // its functions fold, and folding reads it
	teamEvents = map[EventType]lifeEvent{
		HandedOver:    {Operation.mayHandOver, (*Operation).handOver},
		ApprovedFirst: {Operation.mayApproveFirst, (*Operation).approveFirst},
		Routed:        {Operation.mayRoute, (*Operation).route},
	}
}

// AsksOthers says whether, in a team, the operation is for others at that time: another has claimed it, or others are asked and this
// operator is not, or not yet, or was the first of two.
func (o Operation) AsksOthers(name string, at time.Time) bool {
	if first := o.FirstApproval(at); first != nil && first.By.Name == name {
		return true
	}
	if o.To != "" {
		return o.To != name && !o.State.Terminal()
	}
	inTeam := o.RequestedBy != "" || len(o.Routing) > 0
	switch {
	case !inTeam || o.State.Terminal() || o.ClaimedBy == name || o.handedTo(Actor{Name: name}):
		return false
	case o.ClaimedBy != "":
		return true
	}
	return len(o.Routing) > 0 && !slices.Contains(o.Asked(), name)
}

// Asked are those who were asked, each once, in order.
func (o Operation) Asked() (names []string) {
	for _, step := range o.Routing {
		for _, name := range step.Names {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// mayChange says why an event of a team cannot happen to an operation that is over, or whose answer is held.
func (o Operation) mayChange() error {
	switch {
	case o.State.Terminal():
		return o.overError()
	case o.Leaving != nil:
		return o.HeldError()
	}
	return nil
}

func (o Operation) mayHandOver(e Event) error {
	switch err := o.mayChange(); {
	case err != nil:
		return err
	case e.To == "":
		return BadField("to", "is missing; name the operator to hand it over to")
	case e.To == e.By.Name:
		return BadField("to", "is yourself; claim operation %s instead", o.ID)
	case e.To == o.ClaimedBy:
		return Errorf(Conflict, "operation %s is claimed by %s already", o.ID, e.To)
	}
	return nil
}

// handOver keeps the operation with whoever has it until the other claims it. One that is not claimed is theirs who hand it over.
func (o *Operation) handOver(e Event) {
	if o.ClaimedBy == "" {
		o.State, o.ClaimedBy = Claimed, e.By.Name
	}
	o.HandOver = &HandOver{From: o.ClaimedBy, To: e.To, By: e.By.Name, Note: e.Text, At: e.At}
	o.SnoozedUntil = nil
}

// mayClaim says why an operator cannot claim the operation now.
func (o Operation) mayClaim(by Actor) error {
	if o.ClaimedBy != "" && !o.handedTo(by) {
		return o.takenError(by)
	}
	return nil
}

// claim makes the operation an operator's. What was handed over may wait for its agent's reply, and still does.
func (o *Operation) claim(e Event) {
	if o.State != WaitingInput {
		o.State = Claimed
	}
	o.ClaimedBy, o.SnoozedUntil = e.By.Name, nil
}

// endHandOver forgets a hand-over once the operation ends, is released or is another's than before.
func (o *Operation) endHandOver(before Operation, e Event) {
	if o.State.Terminal() || o.ClaimedBy != before.ClaimedBy && e.Type != HandedOver {
		o.HandOver = nil
	}
}

func (o Operation) handedTo(by Actor) bool { return o.HandOver != nil && o.HandOver.To == by.Name }

// FirstApproval is the first of two approvals, where it counts at that time: clocks of two machines may differ.
func (o Operation) FirstApproval(at time.Time) *Approval {
	if len(o.Approvals) == 0 || at.Sub(o.Approvals[0].At).Abs() > ApprovalTime {
		return nil
	}
	return &o.Approvals[0]
}

// agreed is the first approval, where an answer given at that time lets the same happen.
func (o Operation) agreed(a Answer, at time.Time) *Approval {
	first := o.FirstApproval(at)
	if first == nil || first.Digest != o.AnswerDigest(a) || first.Answer.Choice != a.Choice || !bytes.Equal(first.Answer.Args, a.Args) {
		return nil
	}
	return first
}

// NeedsTwo says whether an answer approves what two people have to approve.
func (o Operation) NeedsTwo(a Answer) bool { return o.ApprovalsNeeded > 1 && a.Decision == Approved }

// ApprovesFirst says whether an answer given at that time is the first of two approvals.
func (o Operation) ApprovesFirst(a Answer, at time.Time) bool {
	return o.NeedsTwo(a) && o.agreed(a, at) == nil
}

// mayApprove says why an approval, where two people have to approve, does not count.
func (o Operation) mayApprove(e Event) error {
	if e.By.Role != Operator || e.By.Name == "" {
		return Errorf(Denied, "operation %s needs the approval of two people", o.ID)
	}
	if e.By.Name == o.RequestedBy {
		return Errorf(Denied, "your agent asked for operation %s, so two other people have to approve it; you can deny it", o.ID)
	}
	first := o.agreed(*e.Answer, e.At)
	switch {
	case first != nil && first.By.Name == e.By.Name:
		return Errorf(Conflict, "you have approved operation %s; another person has to approve it by %s", o.ID, first.Until.UTC().Format(time.RFC3339))
	case first == nil && e.Type == Finished:
		return Errorf(Conflict, "operation %s needs the approval of two people for the same bytes within 15 minutes; approve it again", o.ID)
	case first != nil && e.Type == ApprovedFirst:
		return Errorf(Conflict, "operation %s has its first approval from %s", o.ID, first.By.Name)
	}
	return nil
}

func (o Operation) mayApproveFirst(e Event) error {
	if err := o.mayChange(); err != nil {
		return err
	}
	if e.Answer == nil || !o.NeedsTwo(*e.Answer) {
		return Errorf(Invalid, "operation %s does not need the approval of two people, or this is no approval", o.ID)
	}
	if e.Digest != o.AnswerDigest(*e.Answer) {
		return Errorf(Conflict, "the approval is for other bytes than operation %s asks about; read it again", o.ID)
	}
	return cmp.Or(o.mayWork(e), o.mayApprove(e))
}

// approveFirst keeps an approval and releases the operation, for another person to approve. It replaces one of other bytes, or that lapsed.
func (o *Operation) approveFirst(e Event) {
	o.Approvals = []Approval{{By: e.By, At: e.At, Until: e.At.Add(ApprovalTime), Digest: e.Digest, Answer: *e.Answer}}
	o.State, o.ClaimedBy, o.SnoozedUntil = Pending, "", nil
	if o.DraftOf(e.By) != nil {
		o.saveDraft(Event{By: e.By}) // it is sent
	}
}

func (o Operation) mayRoute(e Event) error {
	switch err := o.mayChange(); {
	case err != nil:
		return err
	case e.By.Role != System || e.Routing == nil || len(e.Routing.Names) == 0:
		return Errorf(Invalid, "only Deskbell itself routes an operation, to at least one person")
	case e.Routing.Step != len(o.Routing)+1:
		return Errorf(Conflict, "step %d of asking for operation %s is not the next one", e.Routing.Step, o.ID)
	}
	return nil
}

func (o *Operation) route(e Event) {
	step := *e.Routing
	step.At = e.At
	o.Routing = append(slices.Clip(o.Routing), step)
}
