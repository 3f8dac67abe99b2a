package hub

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"deskbell/backend/human"
	"deskbell/backend/queue/journaltest"
	"deskbell/backend/store/sqlite"
	"deskbell/backend/store/team"
)

// run is a desk with these credentials that gives a file to all, until stop is called. It returns once it is online.
func run(t *testing.T, c Credentials, file []byte) (j *team.Journal, stop func()) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{Key: journaltest.Key})
	if err != nil {
		t.Fatal(err)
	}
	j, err = team.New(store, team.Options{
		Desk: c.Desk, Role: c.Role, Key: c.TeamKey, Connect: func() (*nats.Conn, error) { return c.Connect(team.Settings(c.Desk)...) },
		Give: func(context.Context, string, team.Reader, team.Ask) (io.Reader, error) {
			return bytes.NewReader(file), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- j.Run(ctx) }()
	running := true
	stop = func() {
		if !running {
			return
		}
		running = false
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	for late := time.After(30 * time.Second); ; {
		s, changed := j.Status()
		if s.Online {
			return j, stop
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("the desk stays as it is: %+v", s)
		}
	}
}

// gone waits until the server has noticed that a desk is not connected any more.
func gone(t *testing.T, h *Hub, name string) {
	t.Helper()
	late := time.After(30 * time.Second)
	for {
		s, err := h.status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(s.Desks, func(d deskStatus) bool { return d.Name == name && d.Connected }) {
			return
		}
		select {
		case <-late:
			t.Fatalf("%s is still connected", name)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// A file of twenty megabytes comes as it is, and a desk that has another key, gets other bytes, or meets an owner that is not there, says so.
func TestFilesBetweenDesks(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h, _ := start(t, Options{})
	file := make([]byte, 20_000_000)
	_, _ = rand.Read(file)
	owners, anns := join(t, h, "Mei", team.OperatorRole), join(t, h, "Ann", team.OperatorRole)
	bobs := join(t, h, "Bob", team.OperatorRole)
	bobs.TeamKey = make([]byte, 32)
	_, away := run(t, owners, file)
	ann, _ := run(t, anns, nil)
	bob, _ := run(t, bobs, nil)
	ask := team.Ask{Operation: "op_1", Attachment: "att_1"}
	fetch := func(j *team.Journal, most int64) ([]byte, error) {
		var got bytes.Buffer
		err := j.Fetch(ctx, owners.Desk, ask, most, &got)
		return got.Bytes(), err
	}
	says := func(err error, kind human.ErrorKind, words string) {
		t.Helper()
		if human.KindOf(err) != kind || !strings.Contains(human.SafeText(err), words) {
			t.Errorf("%d: %v", human.KindOf(err), err)
		}
	}
	if got, err := fetch(ann, int64(len(file))); err != nil || !bytes.Equal(got, file) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	_, err := fetch(ann, int64(len(file))-1)
	says(err, human.Unavailable, "was changed on the way")
	_, err = fetch(bob, int64(len(file)))
	says(err, human.Unavailable, "that desk has another key of the team")
	config := jetstream.ObjectStoreConfig{Bucket: team.Files, TTL: team.FilesLife, MaxBytes: 180_000_000, Replicas: 1}
	if _, err := h.Office().js.UpdateObjectStore(ctx, config); err != nil { // it has 60
		t.Fatal(err)
	}
	_, err = fetch(ann, int64(len(file)))
	says(err, human.Unavailable, "the team's store for files is full")
	away()
	gone(t, h, owners.Desk) // until then the server has someone who could answer
	_, err = fetch(ann, 1)
	says(err, human.Unavailable, "the file is on Mei's desk, which is not connected")

	// Mei's desk, or who took it over, gives an object that was made for another ask: the bytes are as they were sealed.
	js, err := jetstream.New(connect(t, owners).Conn)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := js.ObjectStore(ctx, team.Files)
	if err != nil {
		t.Fatal(err)
	}
	all := slices.DeleteFunc(stored(t, h, "OBJ_files"), func(s string) bool { return !strings.HasPrefix(s, "$O.files.M.") })
	if len(all) != 3 {
		t.Fatalf("in the store are %q", all)
	}
	old, err := h.Office().js.Stream(ctx, "OBJ_files")
	if err != nil {
		t.Fatal(err)
	}
	m, err := old.GetLastMsgForSubject(ctx, all[0])
	if err != nil {
		t.Fatal(err)
	}
	var was jetstream.ObjectInfo
	if err := json.Unmarshal(m.Data, &was); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(m.Data), "att_1") || strings.Contains(string(m.Data), "op_1") {
		t.Errorf("an object says what it is: %s", m.Data)
	}
	asks, err := js.Conn().SubscribeSync("file." + owners.Desk + ".*.*")
	if err == nil {
		err = js.Conn().Flush() // the server has it before anyone asks
	}
	if err != nil {
		t.Fatal(err)
	}
	give := func(object string) error {
		failed := make(chan error, 1)
		go func() {
			_, err := fetch(ann, int64(len(file)))
			failed <- err
		}()
		m, err := asks.NextMsgWithContext(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var q team.Ask
		if err := json.Unmarshal(m.Data, &q); err != nil {
			t.Fatal(err)
		}
		answer, err := json.Marshal(map[string]string{"object": object})
		if err == nil {
			err = js.Conn().Publish("given."+anns.Desk+"."+owners.Desk+"."+q.Once, answer)
		}
		if err != nil {
			t.Fatal(err)
		}
		return <-failed
	}
	says(give(was.Name), human.Unavailable, "was changed on the way")
	if _, err := objects.PutBytes(ctx, "plain", file[:1000]); err != nil {
		t.Fatal(err)
	}
	says(give("plain"), human.Unavailable, "was changed on the way")
	says(give("none"), human.Unavailable, "could not be read from the team's store")
}
