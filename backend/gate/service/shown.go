package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"time"

	"deskbell/backend/gate"
	"deskbell/backend/human"
)

// A ShownFile is a file whose version of before can be put back: both versions are kept byte for byte with the two questions.
type ShownFile struct {
	Path string
	Now  string // SHA-256 of its bytes as the operator sees them now
	Text string // as the operator was shown it before
}

// PutBack writes the files that changed since an operator was asked back as they were then, and asks about the call as it is with
// those, in place of the question. It lets nothing run, and stops at
// the first file that is not as the question shows it.
func (k *Service) PutBack(ctx context.Context, by human.Actor, id human.OperationID, digest string) (human.Operation, error) {
	op, q, err := k.question(ctx, by, id)
	if err != nil {
		return op, err
	}
	if digest != op.Digest || op.State.Terminal() {
		return op, human.Errorf(human.Conflict, "operation %s has changed or ended; read it again", op.ID)
	}
	files := k.shown(ctx, by, q)
	if len(files) == 0 {
		return op, human.Errorf(human.Conflict, "not every file that changed is kept as you were shown it: one is long, holds a secret, or was not there")
	}
	for _, f := range files {
		if err := k.d.Files.PutBack(f); err != nil {
			return op, err
		}
		k.d.Log.Info("a file was put back as it was shown", "path", f.Path, "operation_id", op.ID, "by", by.Name)
	}
	agent := human.Actor{Role: human.Agent, Name: op.AgentID}
	j, err := k.judge(ctx, op.AgentID, q.ToolCall, k.d.Project)
	if err != nil {
		return op, err
	}
	switch v := &j.verdict; v.Decision {
	case human.Deny:
		return op, human.Errorf(human.Conflict, "the files are as you were shown them, but the call is blocked now: %s", v.Reason)
	case human.Allow: // the operator has not said so of this call
		v.Decision = human.Ask
		gate.Explain(j.call, v, j.facts)
	}
	next, err := k.ask(ctx, agent, q.ToolCall, &j, k.decision(agent, q.ToolCall, &j), k.rest(op, q))
	if err != nil {
		return op, err
	}
	k.replaced(op.ID, next.ID)
	_, err = k.d.Queue.Cancel(ctx, agent, op.ID, "the files were put back as they were; it is asked again as "+string(next.ID))
	return next, err
}

// rest is how the agent of a question is asked for as long as it can still wait.
func (k *Service) rest(op human.Operation, q human.Question) Asking {
	return Asking{Timeout: op.CreatedAt.Add(time.Duration(op.Timeout * float64(time.Second))).Sub(k.d.Now().UTC()), client: q.Asker}
}

// replaced notes which question is asked in the place of one.
func (k *Service) replaced(id, next human.OperationID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.askedAgain) >= maxAsked {
		clear(k.askedAgain)
	}
	k.askedAgain[id] = next
}

// shown are the files that changed since the question before a question, nil unless all of them can be put back.
func (k *Service) shown(ctx context.Context, by human.Actor, q human.Question) []ShownFile {
	if q.Changed == nil || q.Changed.Since != human.SinceQuestion || q.Changed.OperationID == "" {
		return nil
	}
	_, before, err := k.question(ctx, by, q.Changed.OperationID)
	if err != nil {
		return nil
	}
	var list []ShownFile
	for _, c := range q.Changed.Files {
		was, is := whole(before.Files, c.Path)
		now, kept := whole(q.Files, c.Path)
		if !is || !kept || !was.Same(c.Before) || !now.Same(c.Now) || !filepath.IsAbs(c.Path) {
			return nil
		}
		list = append(list, ShownFile{Path: c.Path, Now: now.SHA256, Text: was.Text})
	}
	return list
}

// whole finds a file whose text is kept byte for byte.
func whole(files []human.JudgedFile, path string) (human.JudgedFile, bool) {
	i := slices.IndexFunc(files, func(f human.JudgedFile) bool { return f.Path == path })
	if i < 0 || files[i].State != human.FileRead {
		return human.JudgedFile{}, false
	}
	sum := sha256.Sum256([]byte(files[i].Text))
	return files[i], hex.EncodeToString(sum[:]) == files[i].SHA256
}
