package app_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"deskbell/backend/human"
)

// attach stores a file; an error means that there was no whole answer.
func (c *caller) attach(name string, data []byte) (a human.Attachment, err error) {
	req, err := http.NewRequest("POST", c.url+"/api/attachments?name="+url.QueryEscape(name), bytes.NewReader(data))
	if err != nil {
		return a, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := c.http.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return a, err
	}
	if resp.StatusCode != 201 {
		return a, fmt.Errorf("%d %s", resp.StatusCode, text)
	}
	return a, json.Unmarshal(text, &a)
}

// bytes reads a file.
func (c *caller) bytes(t testing.TB, id human.AttachmentID) (status int, data []byte) {
	t.Helper()
	return c.read(t, "/api/attachments/"+string(id))
}

// read is the answer to a GET as it is.
func (c *caller) read(t testing.TB, path string) (status int, data []byte) {
	t.Helper()
	req, err := http.NewRequest("GET", c.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := c.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if data, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, data
}

// TestCrashOfAttachments kills the server with SIGKILL while files are uploaded and named. Whatever it acknowledged is there, byte for
// byte; what no request names is removed once it is a day old, and so is what a killed write left.
func TestCrashOfAttachments(t *testing.T) {
	t.Parallel()
	rounds := 2
	if n, err := strconv.Atoi(os.Getenv("DESKBELL_CRASH_ROUNDS")); err == nil {
		rounds = n
	}
	dir := t.TempDir()
	agentKey := key(t, dir, "bot")
	env := []string{"DESKBELL_HUMAN_MAX_PENDING_REQUESTS=100000"}
	var mu sync.Mutex
	stored, named := map[human.AttachmentID][]byte{}, map[human.AttachmentID]human.OperationID{}
	unanswered := map[human.AttachmentID]bool{} // whether a request names it is not known
	for range rounds {
		s := serve(t, dir, env)
		mu.Lock()
		enough := len(named) + 5
		mu.Unlock()
		var callers sync.WaitGroup
		for i := range 3 {
			callers.Go(func() {
				me := newCaller(t, s.url, agentKey)
				for n := 0; ; n++ {
					data := make([]byte, 20_000)
					_, _ = rand.Read(data)
					a, err := me.attach(fmt.Sprintf("%d-%d.bin", i, n), data)
					if err != nil {
						return
					}
					mu.Lock()
					stored[a.ID] = data
					mu.Unlock()
					if n%3 == 1 {
						continue // it stays unnamed; of five names by three callers one comes after such a file
					}
					var op human.Operation
					status, err := me.call("POST", "/api/human/invoke", map[string]any{"action_type": "feedback", "description": string(a.ID), "attachments": []human.AttachmentID{a.ID}}, &op)
					mu.Lock()
					if err != nil {
						unanswered[a.ID] = true
					} else if status == 201 {
						named[a.ID] = op.ID
					}
					mu.Unlock()
					if err != nil {
						return
					}
				}
			})
		}
		waitFor(t, "acknowledgements", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(named) >= enough
		})
		s.kill()
		callers.Wait()
	}

	s := serve(t, dir, env)
	agent, boss := newCaller(t, s.url, agentKey), operator(t, s.url, s.code)
	for id, data := range stored {
		if status, got := agent.bytes(t, id); status != 200 || !bytes.Equal(got, data) {
			t.Errorf("%s was acknowledged, and is %d with %d bytes now", id, status, len(got))
		}
	}
	for id, op := range named {
		var now human.Operation
		boss.good(t, "GET", "/api/human/operations/"+string(op), nil, &now)
		if len(now.Attachments) != 1 || now.Attachments[0].ID != id {
			t.Errorf("%s was acknowledged with %s, and has %+v now", op, id, now.Attachments)
		}
		if status, got := boss.bytes(t, id); status != 200 || !bytes.Equal(got, stored[id]) {
			t.Errorf("the operator reads %d with %d bytes for %s", status, len(got), id)
		}
	}
	s.kill()

	// A day later.
	old := time.Now().Add(-25 * time.Hour)
	var left string
	err := filepath.WalkDir(filepath.Join(dir, "attachments"), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == "data" && left == "" {
			left = filepath.Join(filepath.Dir(path), ".data-killed")
			if err := os.WriteFile(left, []byte("half a fi"), 0o600); err != nil {
				return err
			}
			if err := os.Chtimes(left, old, old); err != nil {
				return err
			}
		}
		return os.Chtimes(path, old, old)
	})
	if err != nil {
		t.Fatal(err)
	}
	s = serve(t, dir, env)
	agent = newCaller(t, s.url, agentKey)
	loose := 0
	for id := range stored {
		if _, is := named[id]; !is && !unanswered[id] {
			loose++
			waitFor(t, "a file that nothing names is removed", func() bool {
				status, _ := agent.bytes(t, id)
				return status == 404
			})
		}
	}
	for id := range named {
		if status, got := agent.bytes(t, id); status != 200 || !bytes.Equal(got, stored[id]) {
			t.Errorf("%s is named, and is %d with %d bytes a day later", id, status, len(got))
		}
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("what a killed write left: %v", err)
	}
	if loose == 0 {
		t.Error("no file was left unnamed; that tests nothing")
	}
	t.Logf("%d files, %d named, %d loose", len(stored), len(named), loose)
}

func TestAttachmentsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	in := t.TempDir()
	var shot bytes.Buffer
	if err := png.Encode(&shot, image.NewRGBA(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	secret := "ghp_" + "q7Zk2Lw9Xv4Rt8Yp3Nm6Bc1Vd5Fg0HjK8sTa"
	for name, data := range map[string][]byte{"shot.png": shot.Bytes(), "log.txt": []byte("words"), "out/shot.png": []byte("mine"), "reply.txt": []byte("key " + secret)} {
		path := filepath.Join(in, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string) string { return filepath.Join(in, name) }
	asOperator := func(args ...string) result {
		t.Helper()
		return run(t, d.dir, nil, append(args, "--code", d.invite(t))...)
	}
	run(t, d.dir, d.env, "ring", "Look", "--attach", file("missing")).want(t, 3, "there is no file")
	run(t, d.dir, d.env, "ring", "Look", "--attach", in).want(t, 3, "no regular file")
	run(t, d.dir, d.env, "ring", "Look", "--attach", file("log.txt"), "--attach", file("log.txt")).want(t, 3, "same bytes")

	var id string
	r := d.during(t, []string{"ring", "Look", "--attach", file("shot.png"), "--attach", file("log.txt")}, func(op human.Operation) {
		id = string(op.ID)
		asOperator("answer", id).want(t, 3, "files:", "shot.png (image/png", "log.txt (text/plain", "deskbell attachments save "+id)
		asOperator("attachments", "list", id).want(t, 0, "request", "shot.png", string(human.AttachmentOf(shot.Bytes())))
		asOperator("attachments", "save", id, "--output", file("out")).want(t, 0, file("out/shot-2.png"), file("out/log.txt"))
		asOperator("attachments", "save", id, "nothing").want(t, 3, "has no file nothing")
		asOperator("attachments", "save", id, "--output", file("nowhere")).want(t, 3, "cannot be written")
		asOperator("answer", id, "--decline", "no", "--attach", file("log.txt")).want(t, 3, "do not go with")
		asOperator("answer", id, "--text", "see it", "--attach", file("reply.txt")).want(t, 0, "answered", "secrets were masked: 1")
	})
	r.want(t, 0, "see it", "Files:", "reply.txt (text/plain", "deskbell attachments save "+id)
	if data, err := os.ReadFile(file("out/shot.png")); err != nil || string(data) != "mine" {
		t.Errorf("a file that was there is %q, %v", data, err)
	}
	if data, err := os.ReadFile(file("out/shot-2.png")); err != nil || !bytes.Equal(data, shot.Bytes()) {
		t.Errorf("the saved file has %d bytes, %v", len(data), err)
	}

	run(t, d.dir, d.env, "attachments", "list", id, "--json").want(t, 0, `"with":"answer"`)
	run(t, d.dir, d.env, "attachments", "save", id, "reply.txt", "--output", file("out"), "--json").want(t, 0, `"saved"`, "reply.txt")
	if data, err := os.ReadFile(file("out/reply.txt")); err != nil || !strings.HasPrefix(string(data), "key ") || strings.Contains(string(data), secret) {
		t.Errorf("the agent saved %q, %v", data, err)
	}
	stranger := []string{"DESKBELL_KEY=" + key(t, d.dir, "stranger")}
	run(t, d.dir, stranger, "attachments", "list", id).want(t, 3, "operation")
	run(t, d.dir, stranger, "attachments", "save", id, "--output", file("out")).want(t, 3, "operation")
	run(t, d.dir, nil, "attachments", "list", id).want(t, 3, "deskbell login")
}

// A copy of the database and of attachments/, as docs/configuration.md says to make one, has an operation with its files.
func TestACopyOfTheDataFolderHasTheFiles(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	agent := newCaller(t, d.url, strings.TrimPrefix(d.env[0], "DESKBELL_KEY="))
	asked, err := agent.attach("asked.bin", []byte{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	given, err := d.boss.attach("given.txt", []byte("words"))
	if err != nil {
		t.Fatal(err)
	}
	var op human.Operation
	agent.good(t, "POST", "/api/human/invoke", map[string]any{"action_type": "feedback", "description": "Look", "attachments": []human.AttachmentID{asked.ID}}, &op)
	d.boss.good(t, "POST", "/api/human/complete", map[string]any{"operation_id": op.ID, "human_input": "here", "attachments": []human.AttachmentID{given.ID}}, nil)
	d.stop(t)

	for name, whole := range map[string]bool{"with attachments": true, "the database alone": false} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db, err := os.ReadFile(filepath.Join(d.dir, "deskbell.db"))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "deskbell.db"), db, 0o600)
			}
			if err == nil && whole {
				err = os.CopyFS(filepath.Join(dir, "attachments"), os.DirFS(filepath.Join(d.dir, "attachments")))
			}
			if err != nil {
				t.Fatal(err)
			}
			s := serve(t, dir, nil)
			boss := operator(t, s.url, s.code)
			var now human.Operation
			boss.good(t, "GET", "/api/human/operations/"+string(op.ID), nil, &now)
			if len(now.Attachments) != 1 || now.Result == nil || len(now.Result.Files) != 1 {
				t.Fatalf("the copy has %+v, %+v", now.Attachments, now.Result)
			}
			for id, want := range map[human.AttachmentID]string{asked.ID: "\x00\x01", given.ID: "words"} {
				status, data := boss.bytes(t, id)
				if whole && (status != 200 || string(data) != want) || !whole && status != 404 {
					t.Errorf("%s: %d %q", id, status, data)
				}
			}
		})
	}
}
