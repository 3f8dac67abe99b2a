package sinks

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue/outbox"
)

// sample is the document of an answered operation.
func sample(t *testing.T, id, description string) (outbox.Document, []byte) {
	t.Helper()
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	d := outbox.DocumentOf(human.Operation{
		ID: human.OperationID(id), Kind: human.Approve, State: human.Completed, AgentID: "bot", Description: description, CreatedAt: at, UpdatedAt: at,
		Result: &human.Result{Answer: human.Answer{Decision: human.Approved, HumanInput: "go <ahead>"}, By: human.Actor{Role: human.Operator, Name: "Mei"}, At: at},
	})
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return d, text
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "human.log")
	log := &Log{Path: path, Size: 4000}
	put := func(id string) {
		t.Helper()
		d, text := sample(t, id, "Deploy "+strings.Repeat("x", 300))
		if err := log.Put(t.Context(), d, text); err != nil {
			t.Fatal(err)
		}
	}
	put("op_1")
	if err := os.WriteFile(path, append([]byte(read(t, path)), `{"half": "a li`...), 0o600); err != nil {
		t.Fatal(err)
	}
	put("op_2")
	var whole []string
	for line := range strings.Lines(read(t, path)) {
		var entry struct {
			Level, Msg, Category string
			Time                 time.Time
			Operation            outbox.Document
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			continue // what the crash left
		}
		if entry.Category != "human" || entry.Level != "INFO" || entry.Time.IsZero() || entry.Msg == "" || entry.Operation.AgentID != "bot" || entry.Operation.Result.Decision != human.Approved {
			t.Errorf("%s", line)
		}
		whole = append(whole, string(entry.Operation.OperationID))
	}
	if strings.Join(whole, " ") != "op_1 op_2" {
		t.Errorf("the log has %q", whole)
	}
	for i := range 100 {
		put("op_" + strings.Repeat("9", i%5+1))
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != 4 {
		t.Errorf("files %q %v", files, err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil || info.Size() > 4000+2000 || info.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
			t.Errorf("%s: %v %v", file, info, err)
		}
	}
	if err := (&Log{Path: filepath.Join(path, "x")}).Put(t.Context(), outbox.Document{}, []byte("{}")); human.KindOf(err) != human.Unavailable || !strings.Contains(err.Error(), "human.log") {
		t.Errorf("%v", err)
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	for _, description := range []string{"first", "again"} {
		d, text := sample(t, "op_1", description)
		if err := (Folder{dir}).Put(t.Context(), d, text); err != nil {
			t.Fatal(err)
		}
	}
	var d outbox.Document
	if err := json.Unmarshal([]byte(read(t, filepath.Join(dir, "human_operation_op_1.json"))), &d); err != nil || d.Request.Description != "again" || d.ID != "human_operation_op_1" {
		t.Errorf("%+v %v", d, err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("%v %v", all, err)
	}
	d.ID = "../escape"
	if err := (Folder{dir}).Put(t.Context(), d, []byte("{}")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "escape.json")); err != nil {
		t.Errorf("a name leads out of the folder: %v", err)
	}
	if err := (Folder{filepath.Join(dir, "none")}).Put(t.Context(), d, []byte("{}")); human.KindOf(err) != human.Unavailable || !strings.Contains(err.Error(), "none") {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// hook is a webhook at a server of the test's.
func hook(s *httptest.Server, path, body, secret string) Webhook {
	return Webhook{
		URL: s.URL + path, Body: body, Client: s.Client(), Now: func() time.Time { return time.Unix(1790000000, 0) },
		Secret: func(context.Context, string) (string, error) { return secret, nil },
	}
}

// The recipes of docs/sinks.md, against servers that take what those services' documents say they take, and nothing else.
func TestRecipes(t *testing.T) {
	const token = "T00/B00/XXXX"
	var got string
	fields := func(w http.ResponseWriter, r *http.Request) (m map[string]any) {
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			http.Error(w, "invalid_payload", http.StatusBadRequest)
			return nil
		}
		if json.NewDecoder(r.Body).Decode(&m) != nil {
			http.Error(w, "invalid_payload", http.StatusBadRequest)
			return nil
		}
		return m
	}
	// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
	slack := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/services/"+token {
			http.Error(w, "no_service", http.StatusNotFound)
			return
		}
		m := fields(w, r)
		text, is := m["text"].(string)
		switch {
		case m == nil:
		case !is || text == "" || len(m) != 1:
			http.Error(w, "no_text", http.StatusBadRequest)
		case strings.Contains(text, "<!channel>"):
			http.Error(w, "everybody was called", http.StatusTeapot)
		default:
			got = text
			_, _ = io.WriteString(w, "ok")
		}
	}
	// https://core.telegram.org/bots/api#sendmessage
	telegram := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/bot"+token+"/sendMessage" {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"ok":false,"error_code":404,"description":"Not Found"}`)
			return
		}
		m := fields(w, r)
		text, is := m["text"].(string)
		_, chat := m["chat_id"].(float64)
		if !is || !chat || len([]rune(text)) > 4096 || text == "" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"ok":false,"error_code":400,"description":"Bad Request: message text is empty"}`)
			return
		}
		got = text
		_, _ = io.WriteString(w, `{"ok":true,"result":{"message_id":1}}`)
	}
	// https://docs.n8n.io/integrations/builtin/core-nodes/n8n-nodes-base.webhook, with a check of the signature as its Crypto node makes it
	n8n := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, []byte(token))
		_, _ = mac.Write([]byte(r.Header.Get("webhook-id") + "." + r.Header.Get("webhook-timestamp") + "." + string(body)))
		if err != nil || r.URL.Path != "/webhook/deskbell" || r.Header.Get("webhook-signature") != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
			http.Error(w, `{"code":403,"message":"Provided signature is not valid"}`, http.StatusForbidden)
			return
		}
		var d outbox.Document
		if err := json.Unmarshal(body, &d); err != nil || d.Category != "human_actions" || r.Header.Get("webhook-id") != d.ID {
			http.Error(w, "", http.StatusBadRequest)
			return
		}
		got = d.Text
		_, _ = io.WriteString(w, `{"message":"Workflow was started"}`)
	}
	for name, tt := range map[string]struct {
		server     http.HandlerFunc
		path, body string
	}{
		"Slack":    {slack, "/services/{secret}", `{"text": {{json (escape .Text)}}}`},
		"Telegram": {telegram, "/bot{secret}/sendMessage", `{"chat_id": 123456789, "text": {{json .Text}}}`},
		"n8n":      {n8n, "/webhook/deskbell", ""},
	} {
		s := httptest.NewTLSServer(tt.server)
		d, text := sample(t, "op_1", `Deploy <!channel> "now"?`)
		got = ""
		if err := hook(s, tt.path, tt.body, token).Put(t.Context(), d, text); err != nil || !strings.Contains(got, `"now"?`) {
			t.Errorf("%s: %v, it took %q", name, err, got)
		}
		if docs := read(t, "../../../docs/sinks.md"); !strings.Contains(docs, tt.path) || !strings.Contains(docs, tt.body) {
			t.Errorf("docs/sinks.md does not have the recipe for %s", name)
		}
		err := hook(s, tt.path, tt.body, "another").Put(t.Context(), d, text)
		if human.KindOf(err) != human.Unavailable || strings.Contains(err.Error(), "another") {
			t.Errorf("%s with a wrong secret: %v", name, err)
		}
		s.Close()
	}
}

func TestWebhook(t *testing.T) {
	d, text := sample(t, "op_1", "Deploy?")
	var body []byte
	var headers http.Header
	status := http.StatusNoContent
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
		headers = r.Header
		w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
		w.WriteHeader(status)
		_, _ = w.Write([]byte("sorry, s3cret-of-mine"))
	}))
	defer s.Close()
	key := []byte("0123456789abcdef0123456789abcdef")
	secret := "whsec_" + base64.StdEncoding.EncodeToString(key)
	if err := hook(s, "/in", "", secret).Put(t.Context(), d, text); err != nil || !bytes.Equal(body, text) {
		t.Errorf("%v, %s", err, body)
	}
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte("human_operation_op_1.1790000000." + string(text)))
	if headers.Get("webhook-signature") != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) || headers.Get("webhook-timestamp") != "1790000000" {
		t.Errorf("%v", headers)
	}
	if err := hook(s, "/in", "", "").Put(t.Context(), d, text); err != nil || headers.Get("webhook-signature") != "" {
		t.Errorf("without a secret: %v %v", err, headers)
	}
	for _, status = range []int{301, 302, 307, 400, 404, 429, 500} {
		if err := hook(s, "/in", "", "s3cret-of-mine").Put(t.Context(), d, text); human.KindOf(err) != human.Unavailable || strings.Contains(err.Error(), "s3cret-of-mine") {
			t.Errorf("%d: %v", status, err)
		}
	}
	if err := hook(s, "/{secret}", "", "").Put(t.Context(), d, text); human.KindOf(err) != human.NotFound || !strings.Contains(err.Error(), "set-secret") {
		t.Errorf("without its secret: %v", err)
	}
	locked := hook(s, "/in", "", "")
	locked.Secret = func(context.Context, string) (string, error) { return "", errors.New("locked") }
	if err := locked.Put(t.Context(), d, text); err == nil {
		t.Error("it was posted without the secret that could not be read")
	}
	s.Close()
	if err := hook(s, "/{secret}", "", "s3cret-of-mine").Put(t.Context(), d, text); human.KindOf(err) != human.Unavailable || strings.Contains(err.Error(), "s3cret-of-mine") {
		t.Errorf("a server that is away: %v", err)
	}
}

func TestTheLogForgets(t *testing.T) {
	log := &Log{Path: filepath.Join(t.TempDir(), "human.log"), Size: 1}
	put := func(id human.OperationID) {
		t.Helper()
		d := outbox.Document{ID: outbox.ID(id), OperationID: id, Text: "words of " + string(id)}
		text, err := json.Marshal(d)
		if err == nil {
			err = log.Put(t.Context(), d, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put("op_1")
	log.Size = 1 << 20
	put("op_2")
	put("op_3")
	log.Size = 1
	put("op_4")
	log.Size = 1 << 20
	for _, half := range []string{log.Path, log.Path + ".1"} { // a crash left it
		f, err := os.OpenFile(half, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(`{"msg":"words of op_2`)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var asked []human.OperationID
	gone := func(id human.OperationID) (bool, error) {
		asked = append(asked, id)
		return id == "op_2" || id == "op_4", nil
	}
	if err := log.Forget(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	var left strings.Builder
	for _, name := range []string{log.Path, log.Path + ".1", log.Path + ".2"} {
		text, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		left.Write(text)
	}
	for id, stays := range map[string]bool{"op_1": true, "op_2": false, "op_3": true, "op_4": false} {
		if strings.Contains(left.String(), "words of "+id) != stays {
			t.Errorf("of %s: %v in\n%s", id, !stays, left.String())
		}
	}
	if len(asked) != 4 {
		t.Errorf("asked about %v", asked)
	}
	if err := log.Forget(t.Context(), func(human.OperationID) (bool, error) { return true, errors.New("the journal cannot be read") }); err == nil {
		t.Error("it forgot without being told what")
	}
	put("op_5")
}
