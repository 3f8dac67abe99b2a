package queue_test

import (
	"bytes"
	"context"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/journaltest"
	"deskbell/backend/store/attachments"
	"deskbell/backend/store/sqlite"
)

// A file that is elsewhere is fetched once, from the first operation whose desk gives the right bytes, whatever other operations name it.
func TestAFileOfAnotherDesk(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	files := attachments.New(t.TempDir(), attachments.Options{})
	data := []byte("from another desk")
	id := human.AttachmentOf(data)
	journal, err := sqlite.Open(ctx, t.TempDir(), sqlite.Options{Key: journaltest.Key})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = journal.Close() }()
	asked, away := 0, true
	leaving, leave := context.WithCancel(ctx)
	q := queue.New(journal, journal, queue.Options{Files: files, Fetch: func(ctx context.Context, entries []human.Entry, _ human.AttachmentID) ([]byte, error) {
		asked++
		if leave(); ctx.Err() != nil {
			t.Error("it ends with its caller")
		}
		switch {
		case entries[0].ID == "op_1":
			return []byte("other bytes"), nil
		case away:
			return nil, human.Errorf(human.Unavailable, "away")
		}
		return data, nil
	}})
	for _, op := range []human.OperationID{"op_1", "op_2"} {
		if err := files.Expect(ctx, op, id); err != nil {
			t.Fatal(err)
		}
		_, err := journal.Append(ctx, op, 0, human.Event{Type: human.Invoked, Desk: "Ann=1", By: human.Actor{Role: human.Agent, Name: "bot@Ann"}, Request: &human.Request{Kind: human.Feedback, AgentID: "bot@Ann", Attachments: []human.Attachment{{ID: id}}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	me := human.Actor{Role: human.Operator, Name: "Mei"}
	if _, _, err := q.AttachmentData(leaving, me, id, 0); human.KindOf(err) != human.Unavailable || asked != 2 {
		t.Errorf("away: %v, asked %d times", err, asked)
	}
	away = false
	if _, got, err := q.AttachmentData(ctx, me, id, 0); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%q, %v", got, err)
	}
	before := asked
	if _, got, err := q.AttachmentData(ctx, me, id, 0); err != nil || !bytes.Equal(got, data) || asked != before {
		t.Errorf("%q, %v, asked %d times", got, err, asked-before)
	}
	if _, _, err := q.AttachmentData(ctx, human.Actor{Role: human.Agent, Name: "bot"}, id, 0); human.KindOf(err) != human.NotFound {
		t.Error("an agent of the same name reads it:", err)
	}
}
