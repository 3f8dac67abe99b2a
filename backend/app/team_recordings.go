package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/record/library"
	"deskbell/backend/store/team"
)

// giveRecording reads a part of a recording that another desk asks for, where this desk's member agreed in answer to a request of that desk.
func (m *membership) giveRecording(ctx context.Context, asker string, r team.Reader, a team.Ask, entries []human.Entry) (io.Reader, error) {
	op, ask, err := a.MayRecording(m.credentials.Member, asker, r, entries, time.Now())
	if err != nil {
		return nil, err
	}
	proofs, err := m.app.queue.Receipts(ctx, human.Actor{Role: human.System}, op.ID)
	if err != nil {
		return nil, err
	}
	trust := receipt.TrustIn(m.app.receiptKeys.List())
	owner := func(s receipt.Signer) bool { return s.Operator == m.credentials.Member }
	if !slices.ContainsFunc(proofs, func(p human.Receipt) bool {
		v := receipt.Verify(p.RawMessage, trust)
		return v.Authorizes && v.Operation == string(op.ID) && v.Digest == "sha256:"+op.Digest && slices.ContainsFunc(v.Signers, owner)
	}) {
		return nil, human.Errorf(human.Denied, "no receipt proves that operation %s was approved here", op.ID)
	}
	var want library.Wanted
	if err := json.Unmarshal(a.Recording, &want); err != nil {
		return nil, human.Wrap(human.Invalid, err, "what is wanted cannot be read")
	}
	if want.Recording != ask.Recording {
		return nil, human.Errorf(human.Denied, "operation %s asked for another recording", op.ID)
	}
	if _, err := m.operation(ctx, ask.Operation); err != nil {
		return nil, err
	}
	var given bytes.Buffer
	return &given, m.app.library.GiveRecording(ctx, ask.Operation, want, &given)
}

// recording implements library.Deps.Asked.
func (m *membership) recording(ctx context.Context, want library.Wanted, w io.Writer) (holder string, err error) {
	op, err := m.asked(ctx, want.Recording)
	if err != nil {
		return "", err
	}
	ask, _ := op.Asks()
	desk, err := m.holder(ctx, ask.Operation, ask.Recording)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(want)
	if err != nil {
		return "", err
	}
	return op.To, m.journal.Fetch(ctx, desk, team.Ask{Operation: op.ID, Recording: text}, mostEvidence, w)
}

// asked is this desk's last request for a recording.
func (m *membership) asked(ctx context.Context, id human.RecordingID) (human.Operation, error) {
	return m.app.queue.Newest(ctx, human.Approve, human.PersonID(m.credentials.Member), string(id))
}

// RecordingHolder implements api.Team.
func (m *membership) RecordingHolder(ctx context.Context, op human.OperationID, id human.RecordingID) (h human.RecordingHolder, err error) {
	desk, err := m.holder(ctx, op, id)
	if err != nil {
		return h, err
	}
	if h.Member, err = team.MemberOf(desk); err != nil {
		return h, err
	}
	last, err := m.asked(ctx, id)
	if human.KindOf(err) == human.NotFound {
		return h, nil
	}
	if until, is := last.Grants(time.Now()); is {
		h.Until = &until
	}
	h.Asked = last.ID
	return h, err
}

// AskForRecording implements api.Team.
func (m *membership) AskForRecording(ctx context.Context, by human.Actor, id human.OperationID, rec human.RecordingID, reason string) (h human.RecordingHolder, err error) {
	if m.journal == nil {
		return h, errNoTeam()
	}
	op, err := m.app.queue.Get(ctx, by, id)
	if err != nil {
		return h, err
	}
	if !slices.Contains(op.Recordings, rec) {
		return h, human.Errorf(human.NotFound, "operation %s has no recording %s; it was discarded or deleted", id, human.OneLine(string(rec), 80))
	}
	if h, err = m.RecordingHolder(ctx, id, rec); err != nil {
		return h, err
	}
	if h.Member == m.credentials.Member {
		return h, human.Errorf(human.Conflict, "the recording is on another desk of yours; read it there")
	}
	details, err := json.Marshal(human.RecordingAsk{Operation: id, Recording: rec, Risk: human.MediumRisk})
	if err != nil {
		return h, err
	}
	text, because := "%s asks for the complete recording of: %s", "Because: "
	if human.LanguageOf(op.Description) == "zh-CN" {
		text, because = "%s 请求查看完整录制：%s", "理由："
	}
	text = fmt.Sprintf(text, m.credentials.Member, human.OneLine(op.Description, 120))
	if reason = strings.TrimSpace(reason); reason != "" {
		text += "\n\n" + because + reason
	}
	_, err = m.app.queue.AskMember(ctx, by, human.Request{
		Kind: human.Approve, Description: text, Details: details, SessionID: string(rec), Priority: human.DefaultPriority, To: h.Member,
		Timeout: human.GrantTime.Seconds(), OnTimeout: human.Cancel,
	})
	if err != nil {
		return h, err
	}
	return m.RecordingHolder(ctx, id, rec)
}
