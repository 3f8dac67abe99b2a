package app_test

import (
	"bytes"
	crand "crypto/rand"
	"encoding/json"
	"image"
	_ "image/png" // as evidence has them
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"deskbell/backend/human"
	"deskbell/backend/record/library"
	"deskbell/backend/store/team"
	"deskbell/backend/store/team/hub"
)

// deskOf is a desk of a member, connected.
func deskOf(t *testing.T, h *hub.Hub, member string, role team.Role) *fixture {
	t.Helper()
	d := newFixture(t)
	d.joins(t, h, member, role)
	return d
}

// joins makes it the desk of a member, connected.
func (d *fixture) joins(t *testing.T, h *hub.Hub, member string, role team.Role) {
	t.Helper()
	link, err := h.Office().Invite(t.Context(), member, role)
	if err != nil {
		t.Fatal(err)
	}
	run(t, d.dir, nil, "join", link, "--code", d.invite(t)).want(t, 0)
	d.again(t)
	d.team(t, online)
}

// bot is the desk's agent.
func (d *fixture) bot(t *testing.T) *caller {
	t.Helper()
	return newCaller(t, d.url, strings.TrimPrefix(d.env[0], "DESKBELL_KEY="))
}

// attached stores a file of so many bytes, which begins as a PDF, or fails the test.
func (c *caller) attached(t *testing.T, size int) (human.AttachmentID, []byte) {
	t.Helper()
	data := append([]byte("%PDF-1.7\n"), make([]byte, size)...)
	_, _ = crand.Read(data[9:])
	a, err := c.attach("plan.pdf", data)
	if err != nil {
		t.Fatal(err)
	}
	return a.ID, data
}

// opens waits until a file's operation is here, and compares the file.
func (c *caller) opens(t *testing.T, op human.OperationID, id human.AttachmentID, want []byte) {
	t.Helper()
	waitFor(t, "the operation", func() bool {
		var there human.Operation
		status, err := c.call("GET", "/api/human/operations/"+string(op), nil, &there)
		_, names := there.Attached(id)
		return err == nil && status == 200 && names
	})
	if status, data := c.bytes(t, id); status != 200 || !bytes.Equal(data, want) {
		t.Errorf("a file of another desk: %d, %d bytes of %d, %.200s", status, len(data), len(want), data[:min(len(data), 200)])
	}
}

// What one desk of a team attached is opened on the others, and the hub has nothing of it that can be read.
func TestFilesOfATeam(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	h, stopHub := startHub(t, folder, "127.0.0.1:0", "127.0.0.1:0")
	defer stopHub()
	ann, mei, eve, robots := deskOf(t, h, "Ann", team.OperatorRole), deskOf(t, h, "Mei", team.OperatorRole), deskOf(t, h, "Eve", team.AuditorRole), deskOf(t, h, "Robots", team.AgentRole)
	ask := func(d *fixture, files ...human.AttachmentID) (op human.Operation) {
		d.bot(t).good(t, "POST", "/api/human/invoke", map[string]any{"action_type": "feedback", "description": "look", "attachments": files}, &op)
		return op
	}
	reply := func(op human.Operation, files ...human.AttachmentID) {
		mei.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "human_input": "seen", "digest": op.Digest, "attachments": files}, nil)
	}

	// Twenty megabytes.
	one, first := ann.bot(t).attached(t, 9_900_000)
	two, second := ann.bot(t).attached(t, 9_900_000)
	op := ask(ann, one, two)
	mei.boss.opens(t, op.ID, one, first)
	mei.boss.opens(t, op.ID, two, second)
	eve.boss.opens(t, op.ID, one, first)
	stored := 0
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		stored += len(text)
		for _, data := range [][]byte{first, second} {
			for at := 9; at+32 < len(data); at += 1 << 20 {
				if bytes.Contains(text, data[at:at+32]) {
					t.Errorf("%s has what a desk attached", path)
				}
			}
		}
		return err
	})
	if err != nil || stored < 2*9_900_000 {
		t.Errorf("the hub has %d bytes, %v", stored, err)
	}

	// The answer's file, for the agent that asked. What is in a draft stays.
	draft, _ := mei.boss.attached(t, 1000)
	mei.boss.good(t, "POST", "/api/human/claim", map[string]any{"operation_id": op.ID}, nil)
	mei.boss.good(t, "POST", "/api/human/input", map[string]any{"operation_id": op.ID, "attachments": []human.AttachmentID{draft}}, nil)
	waitFor(t, "the draft", func() bool {
		status, _ := ann.boss.bytes(t, draft)
		return status != 404
	})
	if status, text := ann.boss.bytes(t, draft); status != 403 || !bytes.Contains(text, []byte("Mei's desk does not give the file")) {
		t.Errorf("a draft's file: %d, %s", status, text)
	}
	answer, said := mei.boss.attached(t, 1000)
	reply(op, answer)
	ann.bot(t).opens(t, op.ID, answer, said)

	// A desk of agents gets the files of its own answers, and no others.
	theirs := ask(robots)
	waitFor(t, "the request of the agents' desk", func() bool {
		status, _ := mei.boss.call("GET", "/api/human/operations/"+string(theirs.ID), nil, &theirs)
		return status == 200
	})
	answer, said = mei.boss.attached(t, 1000)
	reply(theirs, answer)
	robots.bot(t).opens(t, theirs.ID, answer, said)
	if status, text := robots.boss.bytes(t, one); status != 403 {
		t.Errorf("an agents' desk reads another's file: %d, %.200s", status, text)
	}

	// A desk without a connection: what came before is here, the rest is not.
	three, third := ann.bot(t).attached(t, 1000)
	op3 := ask(ann, three)
	waitFor(t, "the operation", func() bool {
		status, _ := mei.boss.call("GET", "/api/human/operations/"+string(op3.ID), nil, nil)
		return status == 200
	})
	ann.stop(t)
	mei.boss.opens(t, op.ID, one, first)
	if status, text := mei.boss.bytes(t, three); status != 503 || !bytes.Contains(text, []byte("the file is on Ann's desk, which is not connected; try again once it is")) {
		t.Errorf("a file of a desk that is away: %d, %s", status, text)
	}
	ann.server = serve(t, ann.dir, nil)
	ann.boss = operator(t, ann.url, ann.code)
	ann.team(t, online)
	mei.boss.opens(t, op3.ID, three, third)

	// What was fetched goes with its request.
	copied := filepath.Join(mei.dir, "attachments", strings.TrimPrefix(string(one), human.AttachmentPrefix))
	if _, err := os.Stat(filepath.Join(copied, "data")); err != nil {
		t.Error(err)
	}
	run(t, mei.dir, nil, "delete", string(op.ID), "--yes", "--code", mei.invite(t)).want(t, 0)
	if _, err := os.Stat(copied); !os.IsNotExist(err) {
		t.Errorf("a file that was fetched outlives its request: %v", err)
	}
}

// A gave is what a desk answers another.
type gave struct {
	Object  string
	Problem human.ErrorKind
}

// asksPast asks a desk with another desk's own connection, past its Deskbell.
func asksPast(conn *nats.Conn, desk, owner string, r team.Reader, ask team.Ask) (got gave, err error) {
	ask.Once = crand.Text()
	text, err := json.Marshal(ask)
	if err != nil {
		return got, err
	}
	answers, err := conn.SubscribeSync("given." + desk + "." + owner + "." + ask.Once)
	if err == nil {
		err = conn.Publish("file."+owner+"."+desk+"."+string(r), text)
	}
	if err != nil {
		return got, err
	}
	m, err := answers.NextMsg(30 * time.Second)
	if err != nil {
		return got, err
	}
	return got, json.Unmarshal(m.Data, &got)
}

// connection is one with a desk's own credentials, past its Deskbell.
func (d *fixture) connection(t *testing.T) (*nats.Conn, string) {
	t.Helper()
	c, err := hub.Load(d.dir)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := c.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn, c.Desk
}

// What a sent finding rests on can be read on other desks, as its agent may read it. The recording stays where it was made: whoever asks for it,
// with a desk's own credentials and past its Deskbell, gets nothing else.
func TestEvidenceOfATeam(t *testing.T) {
	t.Parallel()
	h, stopHub := startHub(t, t.TempDir(), "127.0.0.1:0", "127.0.0.1:0")
	defer stopHub()
	ann := deskOf(t, h, "Ann", team.OperatorRole)
	desk := func(shared bool) (*fixture, human.OperationID) {
		dir := t.TempDir()
		op := remembered(t, dir, shared)
		env := []string{"DESKBELL_KEY=" + key(t, dir, "bot")}
		s := serve(t, dir, nil)
		d := &fixture{s, dir, env, operator(t, s.url, s.code)}
		d.joins(t, h, "Mei", team.OperatorRole)
		return d, op
	}
	mei, op := desk(true)
	_, private := desk(false)
	all := func(op human.OperationID, is func(library.Evidence) bool) (e library.Evidence) {
		t.Helper()
		waitFor(t, "the evidence", func() bool {
			var list struct{ Evidence []library.Evidence }
			status, err := ann.boss.call("GET", "/api/human/operations/"+string(op)+"/evidence", nil, &list)
			if err != nil || status != 200 || len(list.Evidence) != 1 {
				return false
			}
			e = list.Evidence[0]
			return is(e)
		})
		return e
	}
	picture := func(op human.OperationID) (int, []byte) {
		return ann.boss.read(t, "/api/human/operations/"+string(op)+"/evidence/e1/picture?width=300")
	}
	seen := func(e library.Evidence) bool { return strings.Contains(e.Text, "Start") }
	if e := all(op, seen); e.Missing != "" || len(e.Pictures) == 0 {
		t.Errorf("the evidence is %+v", e)
	}
	status, data := picture(op)
	if img, _, err := image.Decode(bytes.NewReader(data)); status != 200 || err != nil || img.Bounds().Dx() != 300 {
		t.Errorf("its picture: %d, %v", status, err)
	}
	if e := all(private, seen); e.Missing != "its operator shares no pictures" || len(e.Pictures) > 0 {
		t.Errorf("the evidence without pictures is %+v", e)
	}
	if status, data := picture(private); status != 404 {
		t.Errorf("a picture that is not shared: %d, %.100s", status, data)
	}
	if status, data := ann.boss.read(t, "/api/recordings/rec_1"); status != 404 {
		t.Errorf("a recording of another desk: %d, %.100s", status, data)
	}

	// A request that is not answered has a recording, too.
	var open human.Operation
	mei.bot(t).good(t, "POST", "/api/human/invoke", map[string]any{"action_type": "desktop", "description": "press it"}, &open)
	unsent, _ := mei.boss.attached(t, 100)
	taken, err := filepath.Glob(filepath.Join(mei.dir, "recordings", "rec_1", "pictures", "*"))
	if err != nil || len(taken) == 0 {
		t.Fatal(taken, err)
	}
	shot, _, _ := strings.Cut(filepath.Base(taken[0]), ".")
	conn, self := ann.connection(t)
	for name, tt := range map[string]struct {
		ask  team.Ask
		want human.ErrorKind
	}{
		"the evidence":                       {team.Ask{Operation: op, Evidence: json.RawMessage(`{"recording":"rec_1"}`)}, 0},
		"a picture by its hash":              {team.Ask{Operation: op, Attachment: human.AttachmentID(human.AttachmentPrefix + shot)}, human.Denied},
		"a recording as a file":              {team.Ask{Operation: op, Attachment: "rec_1"}, human.Denied},
		"a file that was not sent":           {team.Ask{Operation: op, Attachment: unsent}, human.Denied},
		"other evidence":                     {team.Ask{Operation: op, Evidence: json.RawMessage(`{"recording":"rec_1","label":"e2"}`)}, human.NotFound},
		"a picture that is not shared":       {team.Ask{Operation: private, Evidence: json.RawMessage(`{"recording":"rec_1","label":"e1"}`)}, human.NotFound},
		"evidence before the answer":         {team.Ask{Operation: open.ID, Evidence: json.RawMessage(`{"recording":"rec_1"}`)}, human.Denied},
		"evidence of a request that is none": {team.Ask{Operation: "op_none", Evidence: json.RawMessage(`{"recording":"rec_1"}`)}, human.Denied},
	} {
		owner := team.Desk("Mei", 1)
		if tt.ask.Operation == private {
			owner = team.Desk("Mei", 2)
		}
		got, err := asksPast(conn, self, owner, team.AnyReader, tt.ask)
		if err != nil || got.Problem != tt.want || (got.Object != "") != (tt.want == 0) {
			t.Errorf("asked for %s: %+v, %v", name, got, err)
		}
	}

	mei.stop(t)
	all(op, func(e library.Evidence) bool {
		return e.Missing == "the file is on Mei's desk, which is not connected; try again once it is"
	})
}
