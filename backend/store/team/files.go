package team

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
	"deskbell/backend/queue/replica"
)

// A file stays on the desk that has it. Another desk asks for it (askSubject); the desk that has it puts it, encrypted, into the team's
// object store, where it stays for FilesLife, and answers with the object's name (answerSubject). Both names of desks are in both
// subjects, and a desk publishes each under its own name only.

// FilesLife is how long an object stays in the store, FilesBytes how many bytes all may have.
const (
	FilesLife  = time.Hour
	FilesBytes = 1 << 30
	spareBytes = 128 << 20 // that many less, and the store is full: several files may be on their way
)

const (
	fetchTime = time.Minute // for asking, encrypting, and both ways
	serving   = 4           // asks that a desk answers at once
	mostAsk   = 4 << 10     // bytes
)

// A Reader is what a desk may be given, by its role.
type Reader string

// The readers.
const (
	AnyReader    Reader = "any"    // a member's desk: what was sent with any request or answer
	AnswerReader Reader = "answer" // an agents' desk: what was sent with the answers to its own agents
)

// An Ask is for one file of an operation, for what the findings of its answer rest on, or for a part of the recording that the operation
// asked for.
type Ask struct {
	Operation  human.OperationID  `json:"operation"`
	Attachment human.AttachmentID `json:"attachment,omitempty"`
	Evidence   json.RawMessage    `json:"evidence,omitempty"`  // what of it; it counts where neither of the others is there
	Recording  json.RawMessage    `json:"recording,omitempty"` // what of it; nothing else counts then
	Once       string             `json:"once"`                // names the answer, and makes each object good for one ask only
}

// A given is the answer to an Ask.
type given struct {
	Object  string          `json:"object,omitempty"`
	Problem human.ErrorKind `json:"problem,omitempty"` // words of another desk are not shown
}

func askSubject(owner, asker string, r Reader) string {
	return "file." + owner + "." + asker + "." + string(r)
}

func answerSubject(asker, owner, once string) string {
	return "given." + asker + "." + owner + "." + once
}

// about is what an object is for; decrypting needs the same.
func about(owner, asker string, a Ask) string {
	text, _ := json.Marshal([]any{owner, asker, a}) // texts always can be
	return string(text)
}

// isOnce says whether text is one that rand.Text made: it becomes a token of a subject.
func isOnce(text string) bool {
	return len(text) == 26 && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// Fetch has another desk give a file of at most so many bytes, and writes it to w as it comes: not all of what was written counts where
// there is an error. An Unavailable error says that it may work later. It blocks for a minute at most.
func (j *Journal) Fetch(ctx context.Context, owner string, a Ask, most int64, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	who := shown(owner)
	j.mu.RLock()
	js := j.js
	j.mu.RUnlock()
	if js == nil || !js.Conn().IsConnected() {
		return human.Errorf(human.Unavailable, "the file is on %s's desk, and this desk has no connection to its team; try again once it is connected", who)
	}
	a.Once = rand.Text()
	answer, err := j.ask(ctx, js.Conn(), owner, a)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return human.Errorf(human.Unavailable, "the file is on %s's desk, which is not connected; try again once it is", who)
	case err != nil:
		return human.Wrap(human.Unavailable, err, "%s's desk, which has the file, does not answer; try again later", who)
	case answer.Problem == human.NotFound && a.Recording != nil:
		return human.Errorf(human.NotFound, "the recording is not on %s's desk any more, or it lacks this part", who)
	case answer.Problem == human.Denied && a.Recording != nil:
		return human.Errorf(human.Denied, "%s's desk does not give the recording, because %s has not agreed to that in the last 7 days, or has deleted the request; ask for it again", who, who)
	case answer.Problem == human.Conflict && a.Recording != nil:
		return human.Errorf(human.Unavailable, "the recording is still being made on %s's desk; try again once it has ended", who)
	case answer.Problem == human.NotFound:
		return human.Errorf(human.NotFound, "the file is not on %s's desk any more", who)
	case answer.Problem == human.Denied:
		return human.Errorf(human.Denied, "%s's desk does not give the file: only what was sent with a request or an answer leaves a desk", who)
	case answer.Problem == human.Exhausted:
		return human.Errorf(human.Unavailable, "the team's store for files is full; try again in an hour")
	case answer.Problem != 0:
		return human.Errorf(human.Unavailable, "%s's desk could not give the file; the log there says why", who)
	}
	err = j.get(ctx, js, answer.Object, about(owner, j.o.Desk, a), most, w)
	if errors.Is(err, errSealed) {
		return human.Wrap(human.Unavailable, err, "the file of %s's desk was changed on the way, or that desk has another key of the team; try again, and have whoever runs the hub look if it stays so", who)
	}
	if err != nil {
		return human.Wrap(human.Unavailable, err, "the file of %s's desk could not be read from the team's store; try again later", who)
	}
	return nil
}

// ask sends an ask, and returns its answer.
func (j *Journal) ask(ctx context.Context, conn *nats.Conn, owner string, a Ask) (g given, err error) {
	text, err := json.Marshal(a)
	if err != nil {
		return g, err
	}
	answers, inbox := make(chan *nats.Msg, 2), conn.NewInbox() // to which the server says that no one listens
	for _, subject := range []string{answerSubject(j.o.Desk, owner, a.Once), inbox} {
		sub, err := conn.ChanSubscribe(subject, answers)
		if err != nil {
			return g, err
		}
		defer func() { _ = sub.Unsubscribe() }() // or the connection has ended
	}
	r := AnyReader
	if j.o.Role == AgentRole {
		r = AnswerReader
	}
	if err := conn.PublishMsg(&nats.Msg{Subject: askSubject(owner, j.o.Desk, r), Reply: inbox, Data: text}); err != nil {
		return g, err
	}
	select {
	case m := <-answers:
		if m.Subject == inbox {
			return g, nats.ErrNoResponders
		}
		return g, json.Unmarshal(m.Data, &g)
	case <-ctx.Done():
		return g, ctx.Err()
	}
}

// get decrypts an object.
func (j *Journal) get(ctx context.Context, js jetstream.JetStream, name, about string, most int64, w io.Writer) (err error) {
	store, err := js.ObjectStore(ctx, Files)
	if err != nil {
		return err
	}
	object, err := store.Get(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, object.Close()) }()
	plain, err := open(j.o.Key, about, object)
	if err != nil {
		return err
	}
	n, err := io.Copy(w, io.LimitReader(plain, most+1))
	if err == nil && n > most {
		err = errSealed
	}
	return err
}

// give answers other desks until done is called, which waits.
func (j *Journal) give(ctx context.Context, js jetstream.JetStream) (done func(), err error) {
	if j.o.Give == nil || j.o.Role == AuditorRole {
		return func() {}, nil
	}
	asks := make(chan *nats.Msg, 64*serving)
	sub, err := js.Conn().ChanSubscribe(askSubject(j.o.Desk, "*", "*"), asks)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var working sync.WaitGroup
	for range serving {
		working.Go(func() {
			for {
				select {
				case m := <-asks:
					j.answer(ctx, js, m)
				case <-ctx.Done():
					return
				}
			}
		})
	}
	return func() {
		_ = sub.Unsubscribe() // its connection may have ended before
		cancel()
		working.Wait()
	}, nil
}

// answer does what an ask is for, as far as its desk may have that.
func (j *Journal) answer(ctx context.Context, js jetstream.JetStream, m *nats.Msg) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	parts := strings.Split(m.Subject, ".") // as subscribed
	asker, r := parts[2], Reader(parts[3])
	var a Ask
	if len(m.Data) > mostAsk || json.Unmarshal(m.Data, &a) != nil || !isOnce(a.Once) {
		j.o.Log.Warn("what another desk asks for cannot be read", "desk", asker)
		return
	}
	var g given
	file, err := j.o.Give(ctx, asker, r, a)
	if err == nil {
		g.Object, err = j.put(ctx, js, about(j.o.Desk, asker, a), file)
	}
	if err != nil {
		g = given{Problem: human.KindOf(err)}
		j.o.Log.Info("another desk does not get a file", "desk", asker, "operation_id", a.Operation, "attachment_id", a.Attachment, "reason", err)
	}
	text, err := json.Marshal(g)
	if err == nil {
		err = js.Conn().Publish(answerSubject(asker, j.o.Desk, a.Once), text)
	}
	if err != nil {
		j.o.Log.Info("another desk gets no answer", "desk", asker, "reason", err)
	}
}

// put encrypts a file into the team's store, and returns the object's name, which says nothing.
func (j *Journal) put(ctx context.Context, js jetstream.JetStream, about string, file io.Reader) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime/2) // what fails halfway takes until then: a desk may not delete its parts
	defer cancel()
	stream, err := js.Stream(ctx, "OBJ_"+Files)
	if err != nil {
		return "", err
	}
	if about := stream.CachedInfo(); about.Config.MaxBytes > 0 && about.State.Bytes+spareBytes > uint64(about.Config.MaxBytes) {
		return "", human.Errorf(human.Exhausted, "the team's store for files is full; try again in an hour")
	}
	store, err := js.ObjectStore(ctx, Files)
	if err != nil {
		return "", err
	}
	sealed, err := seal(j.o.Key, about, file)
	if err != nil {
		return "", err
	}
	name := rand.Text()
	_, err = store.Put(ctx, jetstream.ObjectMeta{Name: name}, sealed)
	return name, err
}

// May says why a desk does not get what it asks for. A desk gives the files that it sent itself, with a request or an answer: that another
// desk names a file, or that it is in a draft, counts for nothing. It gives evidence once there is an answer.
func (a Ask) May(asker string, r Reader, entries []human.Entry) error {
	for _, e := range entries {
		sent := e.Event.Type == human.Finished && (r == AnyReader || r == AnswerReader && entries[0].Event.Desk == asker) || e.Event.Type == human.Invoked && r == AnyReader
		switch {
		case !sent:
		case a.Attachment == "" && e.Event.Type == human.Finished,
			e.Event.Desk == "" && slices.Contains(human.AttachmentIDs(filesOf(e.Event)), a.Attachment):
			return nil
		}
	}
	return human.Errorf(human.Denied, "operation %s has sent nothing of that to this desk", human.OneLine(string(a.Operation), 80))
}

// MayRecording returns the recording that an operation asked a member for, where the member agreed and the desk may have it now. Whether a
// receipt proves that they agreed is for the caller to see.
func (a Ask) MayRecording(member, asker string, r Reader, entries []human.Entry, now time.Time) (human.Operation, human.RecordingAsk, error) {
	op, err := human.Fold(a.Operation, entries)
	if err != nil && human.KindOf(err) != human.NotFound {
		return op, human.RecordingAsk{}, err
	}
	ask, _ := op.Asks()
	if _, granted := op.Grants(now); !granted || op.To != member || op.Desk != asker || r != AnyReader {
		return op, ask, human.Errorf(human.Denied, "operation %s gives this desk no recording", human.OneLine(string(a.Operation), 80))
	}
	return op, ask, nil
}

// note has the files noted that a message of another desk names.
func (j *Journal) note(ctx context.Context, m replica.Message) error {
	for _, e := range m.Events {
		if files := filesOf(e); j.o.Named != nil && e.Desk != "" && len(files) > 0 {
			if err := j.o.Named(ctx, m.ID, files); err != nil {
				return err
			}
		}
	}
	return nil
}

// filesOf are the files that an event names.
func filesOf(e human.Event) (all []human.Attachment) {
	if e.Request != nil {
		all = append(all, e.Request.Attachments...)
	}
	if e.Answer != nil {
		all = append(all, e.Answer.Files...)
	}
	return all
}

// Holders are the other desks that may have a file of an operation, in the order in which they named it.
func Holders(entries []human.Entry, id human.AttachmentID) (desks []string) {
	for _, e := range entries {
		if e.Event.Desk != "" && !slices.Contains(desks, e.Event.Desk) && slices.Contains(human.AttachmentIDs(filesOf(e.Event)), id) {
			desks = append(desks, e.Event.Desk)
		}
	}
	return desks
}
