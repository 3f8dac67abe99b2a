package human

import (
	"slices"
	"time"
)

// A Later is what an operator decided about a request of their team while their desk was not connected to it. It is done once the desk is,
// unless another change came first: then it is shown, and not done.
type Later struct {
	Operation   OperationID `json:"operation_id"`
	Description string      `json:"description" doc:"What the agent asked for."`
	Does        Decided     `json:"does" enum:"deny,decline,hand_over"`
	By          Actor       `json:"by"`
	At          time.Time   `json:"at" doc:"When it was decided."`
	To          string      `json:"to,omitempty" doc:"Whom the request is handed over to."`
	Text        string      `json:"text,omitempty" doc:"The reason, or the note of a hand-over."`
	Answer      *Answer     `json:"answer,omitempty" doc:"A denial, as it is sent. Lists leave it out."`
	Digest      string      `json:"digest,omitempty" doc:"Of what was shown."`
	Late        *Sentence   `json:"late,omitempty" doc:"Why it was not done: another change came first. Absent: it waits."`
	Seal        string      `json:"seal,omitempty" doc:"The server's signature, without which it is not done."`
}

// Decided is what an operator decided.
type Decided string

// What can wait: nothing of it lets an agent act.
const (
	Denies    Decided = "deny"
	Declines  Decided = "decline"
	HandsOver Decided = "hand_over"
)

// Brief is the decision as lists have it.
func (l Later) Brief() Later {
	l.Description, l.Text, l.Answer, l.Digest, l.Seal = OneLine(l.Description, 200), OneLine(l.Text, 200), nil, "", ""
	return l
}

// Done says whether an operation is as the decision wants it: it was done, and no one heard of it.
func (l Later) Done(o Operation) bool {
	switch {
	case l.Does == HandsOver:
		h := o.HandOver
		return h != nil && h.To == l.To && h.By == l.By.Name && !h.At.Before(l.At)
	case l.Does == Denies && o.Result != nil:
		return o.Result.Decision == Refused && o.Result.By == l.By && !o.Result.At.Before(l.At)
	}
	return l.Does == Declines && o.State == Declined && o.Ended != nil && o.Ended.By == l.By && !o.Ended.At.Before(l.At)
}

// Laters are the decisions as a list has them, those that came too late first.
func Laters(all []Later) []Later {
	list := make([]Later, len(all))
	for i, l := range all {
		list[i] = l.Brief()
	}
	slices.SortStableFunc(list, func(a, b Later) int {
		switch {
		case (a.Late == nil) == (b.Late == nil):
			return 0
		case a.Late != nil:
			return -1
		}
		return 1
	})
	return list
}
