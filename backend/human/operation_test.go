package human_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
)

var (
	noon  = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	agent = human.Actor{Role: human.Agent, Name: "release-bot"}
	mei   = human.Actor{Role: human.Operator, Name: "Mei"}
	tom   = human.Actor{Role: human.Operator, Name: "Tom"}
	bell  = human.Actor{Role: human.System}
)

// story builds histories that read as sentences.
type story []human.Event

func rung() story {
	return story{{Type: human.Invoked, By: agent, Request: &human.Request{
		Kind: human.Approve, Description: "Roll out api 2.14.0", AgentID: agent.Name, Timeout: 600,
		Details: json.RawMessage(`{"action":"kubectl apply -f prod.yaml","risk_level":"high"}`),
	}}}
}

func (s story) then(t human.EventType, by human.Actor) story {
	e := human.Event{Type: t, By: by}
	switch t {
	case human.Finished, human.InputSaved, human.Held:
		e.Answer = &human.Answer{HumanInput: "by " + by.Name, Decision: human.Approved}
		if leaves := noon.Add(time.Hour); t == human.Held {
			e.Until = &leaves
		}
	case human.Recorded, human.Unrecorded:
		e.Recording = "rec_1"
	case human.Shown, human.Seen:
		e.Channel = "card"
	default:
		e.Text = "because"
	}
	return append(s, e)
}

// declining makes what is held a reason to decline.
func (s story) declining(reason ...string) story {
	last := &s[len(s)-1]
	last.Answer, last.Text = nil, strings.Join(append(reason, "because")[:1], "")
	return s
}

// tell applies the story, a second between events, and returns the operation and the first error.
func (s story) tell() (human.Operation, error) {
	op := human.Operation{ID: "op_1"}
	for i, e := range s {
		e.At = noon.Add(time.Duration(i) * time.Second)
		var err error
		if op, err = op.Apply(e); err != nil {
			return op, err
		}
	}
	return op, nil
}

func TestLifeCycle(t *testing.T) {
	for name, tt := range map[string]struct {
		story   story
		want    human.State
		refused human.ErrorKind // 0: every event is taken
	}{
		"a ring is pending":                             {rung(), human.Pending, 0},
		"a claim makes it somebody's":                   {rung().then(human.ClaimedBy, mei), human.Claimed, 0},
		"work begins":                                   {rung().then(human.ClaimedBy, mei).then(human.Started, mei), human.InProgress, 0},
		"a draft begins work":                           {rung().then(human.InputSaved, mei), human.InProgress, 0},
		"a release gives it back":                       {rung().then(human.ClaimedBy, mei).then(human.Released, mei), human.Pending, 0},
		"an unclaimed one has nothing to release":       {rung().then(human.Released, mei), human.Pending, human.Conflict},
		"an answer needs no claim first":                {rung().then(human.Finished, mei), human.Completed, 0},
		"recording needs a claim":                       {rung().then(human.Recorded, mei), human.Pending, human.Conflict},
		"recording is the claimer's":                    {rung().then(human.ClaimedBy, mei).then(human.Recorded, tom), human.Claimed, human.Conflict},
		"recording begins work":                         {rung().then(human.ClaimedBy, mei).then(human.Recorded, mei), human.InProgress, 0},
		"a question stays one while work is recorded":   {rung().then(human.ClaimedBy, mei).then(human.Asked, mei).then(human.Recorded, mei), human.WaitingInput, 0},
		"nothing is recorded after the end":             {rung().then(human.ClaimedBy, mei).then(human.Finished, mei).then(human.Recorded, mei), human.Completed, human.Conflict},
		"a recording may be deleted after the end":      {rung().then(human.ClaimedBy, mei).then(human.Recorded, mei).then(human.Finished, mei).then(human.Unrecorded, mei), human.Completed, 0},
		"a second claim loses":                          {rung().then(human.ClaimedBy, mei).then(human.ClaimedBy, tom), human.Claimed, human.Conflict},
		"another's claim cannot be answered past":       {rung().then(human.ClaimedBy, mei).then(human.Finished, tom), human.Claimed, human.Conflict},
		"a question waits for the agent (M6)":           {rung().then(human.Asked, mei), human.WaitingInput, 0},
		"the agent's reply lets work go on (M6)":        {rung().then(human.Asked, mei).then(human.Replied, agent), human.InProgress, 0},
		"an agent may add a word at any time":           {rung().then(human.Replied, agent), human.Pending, 0},
		"a draft while the agent is asked keeps asking": {rung().then(human.Asked, mei).then(human.InputSaved, mei), human.WaitingInput, 0},
		"an answer needs no reply":                      {rung().then(human.Asked, mei).then(human.Finished, mei), human.Completed, 0},
		"overdue is a mark, not a state (H14)":          {rung().then(human.Expired, bell), human.Pending, 0},
		"overdue twice is once":                         {rung().then(human.Expired, bell).then(human.Expired, bell), human.Pending, human.Conflict},
		"an overdue one can be answered (H14)":          {rung().then(human.Expired, bell).then(human.Finished, mei), human.Completed, 0},
		"its agent cancels":                             {rung().then(human.Withdrawn, agent), human.Cancelled, 0},
		"an answer that is held ends nothing":           {rung().then(human.Held, mei), human.InProgress, 0},
		"it leaves as its operator's answer":            {rung().then(human.Held, mei).then(human.Finished, mei), human.Completed, 0},
		"and never as another's":                        {rung().then(human.Held, mei).then(human.Finished, tom), human.InProgress, human.Conflict},
		"it is held once":                               {rung().then(human.Held, mei).then(human.Held, mei), human.InProgress, human.Conflict},
		"nothing else is done meanwhile":                {rung().then(human.Held, mei).then(human.Released, mei), human.InProgress, human.Conflict},
		"another's claim cannot be held past":           {rung().then(human.ClaimedBy, mei).then(human.Held, tom), human.Claimed, human.Conflict},
		"its operator undoes it":                        {rung().then(human.Held, mei).then(human.Undone, mei).then(human.Released, mei), human.Pending, 0},
		"nobody else does":                              {rung().then(human.Held, mei).then(human.Undone, tom), human.InProgress, human.Conflict},
		"there must be one to undo":                     {rung().then(human.ClaimedBy, mei).then(human.Undone, mei), human.Claimed, human.Conflict},
		"its agent may cancel meanwhile":                {rung().then(human.Held, mei).then(human.Withdrawn, agent), human.Cancelled, 0},
		"a reason to decline that is held ends nothing": {rung().then(human.Held, mei).declining(), human.InProgress, 0},
		"it leaves as its operator's reason":            {rung().then(human.Held, mei).declining().then(human.TurnedDown, mei), human.Declined, 0},
		"and as no other reason":                        {rung().then(human.Held, mei).declining("lazy").then(human.TurnedDown, mei), human.InProgress, human.Conflict},
		"and never as an answer":                        {rung().then(human.Held, mei).declining().then(human.Finished, mei), human.InProgress, human.Conflict},
		"an answer never leaves as a reason":            {rung().then(human.Held, mei).then(human.TurnedDown, mei), human.InProgress, human.Conflict},
		"a question stays one while an answer is held":  {rung().then(human.Asked, mei).then(human.Held, mei), human.WaitingInput, 0},
		"an operator declines":                          {rung().then(human.TurnedDown, mei), human.Declined, 0},
		"a second answer changes nothing":               {rung().then(human.Finished, mei).then(human.Finished, mei), human.Completed, human.Conflict},
		"a late cancel changes nothing":                 {rung().then(human.Finished, mei).then(human.Withdrawn, agent), human.Completed, human.Conflict},
		"nobody rings twice with one id":                {append(rung(), rung()...), human.Pending, human.Conflict},
		"a word after the end is kept":                  {rung().then(human.Finished, mei).then(human.Commented, mei), human.Completed, 0},
		"a word for later needs an end":                 {rung().then(human.Commented, mei), human.Pending, human.Conflict},
		"delivery needs an end":                         {rung().then(human.Delivered, bell), human.Pending, human.Conflict},
		"the ledger goes on after the end":              {rung().then(human.Finished, mei).then(human.Seen, mei), human.Completed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			op, err := tt.story.tell()
			if op.State != tt.want {
				t.Errorf("state %q, want %q", op.State, tt.want)
			}
			if tt.refused == 0 && err != nil {
				t.Errorf("refused: %v", err)
			}
			if tt.refused != 0 && (err == nil || human.KindOf(err) != tt.refused) {
				t.Errorf("error %v, want kind %d", err, tt.refused)
			}
			if taken := len(tt.story); err == nil && op.Version != uint64(taken) {
				t.Errorf("version %d after %d events", op.Version, taken)
			}
		})
	}
}

func TestALateAnswerLearnsWhoDecidedAndWhen(t *testing.T) {
	op, err := rung().then(human.Finished, mei).then(human.Finished, tom).tell()
	want := fmt.Sprintf("operation op_1 was completed by Mei at %s; nothing was changed", noon.Add(time.Second).Format(time.RFC3339))
	if err == nil || human.SafeText(err) != want {
		t.Errorf("told %q, want %q", human.SafeText(err), want)
	}
	if op.Result.By != mei || op.Result.HumanInput != "by Mei" {
		t.Errorf("the first answer did not stand: %+v", op.Result)
	}
}

func TestApplyLeavesTheOldValueAlone(t *testing.T) {
	before, _ := rung().then(human.Asked, mei).then(human.Shown, bell).tell()
	was, _ := json.Marshal(before)
	for _, e := range []human.Event{
		{Type: human.Replied, By: agent, Text: "yes", At: noon},
		{Type: human.Seen, By: mei, Channel: "card", At: noon},
		{Type: human.Seen, By: mei, Channel: "console", At: noon},
	} {
		if _, err := before.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if is, _ := json.Marshal(before); string(is) != string(was) {
		t.Errorf("the value changed:\n%s\n%s", was, is)
	}
}

func TestADraftOutlivesSomebodyElsesAnswer(t *testing.T) {
	op, err := rung().then(human.InputSaved, mei).then(human.Released, mei).then(human.Finished, tom).tell()
	if err != nil || op.Draft == nil || op.Draft.HumanInput != "by Mei" {
		t.Errorf("draft %+v, error %v", op.Draft, err)
	}
	op, err = rung().then(human.InputSaved, mei).then(human.Withdrawn, agent).tell()
	if err != nil || op.Draft == nil {
		t.Errorf("a cancellation took the draft: %+v, error %v", op.Draft, err)
	}
	op, err = rung().then(human.InputSaved, mei).then(human.Finished, mei).tell()
	if err != nil || op.Draft != nil {
		t.Errorf("an own answer left its draft: %+v, error %v", op.Draft, err)
	}
}

func TestAnAgentSeesNothingOfTheOperatorsOwn(t *testing.T) {
	op, err := rung().then(human.InputSaved, mei).then(human.Shown, bell).then(human.Seen, mei).then(human.Held, mei).tell()
	if err != nil {
		t.Fatal(err)
	}
	seen := op.ForAgent()
	if seen.Draft != nil || seen.Leaving != nil || seen.Deliveries != nil || seen.SnoozedUntil != nil {
		t.Errorf("the agent sees %+v", seen)
	}
	for _, private := range []human.EventType{human.InputSaved, human.Snoozed, human.Shown, human.Seen, human.Delivered, human.Recorded, human.Unrecorded, human.Held, human.Undone} {
		if private.ForAgents() {
			t.Errorf("agents are told of %q", private)
		}
	}
}

func TestAnAgentSeesTheRecordingsItWasGiven(t *testing.T) {
	recorded := rung().then(human.ClaimedBy, mei).then(human.Recorded, mei)
	recorded = append(recorded, human.Event{Type: human.Recorded, By: mei, Recording: "rec_2"})
	op, err := recorded.tell()
	if err != nil || len(op.Recordings) != 2 || len(op.ForAgent().Recordings) != 0 {
		t.Fatalf("before the answer: %v, %v of them for the agent, %v", op.Recordings, op.ForAgent().Recordings, err)
	}
	answer := human.Event{Type: human.Finished, By: mei, Answer: &human.Answer{Attachments: []string{"rec_2", "rec_3"}}}
	if op, err = append(recorded, answer).tell(); err != nil {
		t.Fatal(err)
	}
	if seen := op.ForAgent().Recordings; len(seen) != 1 || seen[0] != "rec_2" {
		t.Errorf("the agent sees %v, and was given rec_2", seen)
	}
	op, err = append(recorded, answer, human.Event{Type: human.Unrecorded, By: mei, Recording: "rec_2"}).tell()
	if err != nil || len(op.ForAgent().Recordings) != 0 || len(op.Recordings) != 1 {
		t.Errorf("after it was deleted: %v, for the agent %v, %v", op.Recordings, op.ForAgent().Recordings, err)
	}
}

func TestDigestIsOfTheExactBytes(t *testing.T) {
	sum := func(s string) string { h := sha256.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }
	for name, tt := range map[string]struct {
		request human.Request
		of      string
	}{
		"the command":             {human.Request{Description: "d", Details: []byte(`{"action": "rm -rf /tmp/x", "a": 1}`)}, "rm -rf /tmp/x"},
		"details as sent":         {human.Request{Description: "d", Details: []byte(`{"b":1, "a":2}`)}, `{"b":1, "a":2}`},
		"an action that is a map": {human.Request{Description: "d", Details: []byte(`{"action":{"x":1}}`)}, `{"action":{"x":1}}`},
		"the description":         {human.Request{Description: "delete it?"}, "delete it?"},
	} {
		if got := tt.request.Digest(); got != sum(tt.of) {
			t.Errorf("%s: digest %s, want that of %q", name, got, tt.of)
		}
	}
}

func TestFoldRefusesADamagedJournal(t *testing.T) {
	s := rung().then(human.ClaimedBy, mei)
	entries := []human.Entry{{Seq: 1, ID: "op_1", Version: 1, Event: s[0]}, {Seq: 2, ID: "op_1", Version: 3, Event: s[1]}}
	if _, err := human.Fold("op_1", entries); human.KindOf(err) != human.Internal {
		t.Errorf("a gap folded: %v", err)
	}
	if _, err := human.Fold("op_1", nil); human.KindOf(err) != human.NotFound {
		t.Errorf("nothing folded: %v", err)
	}
}

func TestOneLine(t *testing.T) {
	for name, tt := range map[string]struct {
		answer human.Answer
		want   string
	}{
		"approval with words": {human.Answer{Decision: human.Approved, HumanInput: "go\nahead"}, "Approved: go"},
		"bare denial":         {human.Answer{Decision: human.Refused}, "Denied"},
		"work":                {human.Answer{ExecutionResult: "exported", KeyFindings: []string{"a", "b"}, Fields: map[string]string{"x": "1"}}, "exported: 1 field filled in: 2 key findings"},
	} {
		if got := tt.answer.OneLine(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestDetailsAreReadByTheirExactNames(t *testing.T) {
	r := human.Request{Description: "d", Details: json.RawMessage(`{"action":"ls","Action":"rm -rf /","risk_level":"critical","Risk_Level":"low"}`)}
	if want := (human.Request{Description: "ls"}).Digest(); r.Digest() != want {
		t.Errorf("the digest is bound to something else than details.action")
	}
	if r.Risk() != human.CriticalRisk {
		t.Errorf("risk %q, want critical", r.Risk())
	}
}

// The same numbers as in digest.test.ts of the console, which checks what it shows.
func TestDigestOfAttachments(t *testing.T) {
	r := human.Request{Details: []byte(`{"action":"rm -rf build"}`), Attachments: []human.Attachment{{ID: "att_a", Name: "one"}, {ID: "att_b"}}}
	if got := r.Digest(); got != "d21abe39becb8971b50816a2a1f7aae72009e22af0c9c5298fc6e647bbf1447f" {
		t.Errorf("%s", got)
	}
	renamed := r
	renamed.Attachments = []human.Attachment{{ID: "att_a", Name: "two"}, {ID: "att_b"}}
	if renamed.Digest() != r.Digest() || !renamed.Same(r) {
		t.Error("a name counts")
	}
	swapped := r
	swapped.Attachments = []human.Attachment{{ID: "att_b"}, {ID: "att_a"}}
	if swapped.Digest() == r.Digest() || swapped.Same(r) {
		t.Error("their order does not count")
	}
}
