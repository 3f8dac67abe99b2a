package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/transport/mcp"
)

func TestOverHTTPEveryAgentHasItsOwn(t *testing.T) {
	q := open(t)
	s, _ := serve(t, q, mcp.Options{})
	for _, version := range []string{modern, legacy, "2025-06-18", "2025-03-26"} {
		t.Run(version, func(t *testing.T) {
			mine, theirs := overHTTP(t, s, "dbk_bot", version), overHTTP(t, s, "dbk_other", version)
			if got := mine.InitializeResult().ProtocolVersion; got != version {
				t.Fatalf("speaks %s", got)
			}
			words := ask("Same words, " + version).with(args{"wait_seconds": 0})
			a, b := mine.use(words), theirs.use(words)
			if a.OperationID == b.OperationID || b.Attached {
				t.Errorf("two agents share %s", a.OperationID)
			}
			if r, err := theirs.try(t.Context(), args{"action": "check_result", "operation_id": a.OperationID}, nil); err != nil || r.Kind != "not_found" {
				t.Errorf("another's operation: %+v, %v", r, err)
			}
			notes := make(chan note, 100)
			done := mine.start(args{"action": "wait", "operation_id": a.OperationID}, notes)
			if n := <-notes; !strings.Contains(n.Text, "waiting for a human") {
				t.Errorf("progress says %q", n.Text)
			}
			answer(t, q, a.OperationID, human.Answer{HumanInput: "for " + bot.Name})
			if r := <-done; r.HumanInput != "for "+bot.Name {
				t.Errorf("%+v", r)
			}
			until(t, "it counts as delivered", func() (bool, bool) { return true, delivered(t, q, a.OperationID) })
			if r := mine.use(words); r.Attached || r.OperationID == a.OperationID {
				t.Errorf("asked again after it was read: %+v", r)
			}
		})
	}
}

func TestSessionsOfOldClientsAreThreads(t *testing.T) {
	q := open(t)
	s, _ := serve(t, q, mcp.Options{})
	words := ask("Same words").with(args{"wait_seconds": 0})
	one, two := overHTTP(t, s, "dbk_bot", legacy), overHTTP(t, s, "dbk_bot", legacy)
	if one.ID() == "" || one.ID() == two.ID() {
		t.Fatalf("sessions %q and %q", one.ID(), two.ID())
	}
	a := one.use(words)
	if b := two.use(words); b.Attached {
		t.Error("the same words in another session attached")
	}
	if c := one.use(words); !c.Attached || c.OperationID != a.OperationID {
		t.Error("the same words in the same session rang again")
	}
	op, err := q.Get(t.Context(), mei, a.OperationID)
	if err != nil || op.SessionID == "" || strings.Contains(one.ID(), op.SessionID+".") == false || op.SessionID == one.ID() {
		t.Errorf("the operation's session is %q, the client's %q, %v", op.SessionID, one.ID(), err)
	}
}

// post sends one message by hand; the caller closes the body.
func post(t testing.TB, ctx context.Context, s *httptest.Server, key, session, version, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	head := map[string]string{"Authorization": key, "Mcp-Session-Id": session, "Mcp-Protocol-Version": version}
	if version == modern {
		head["Mcp-Method"], head["Mcp-Name"] = "tools/call", "human"
	}
	for name, value := range head {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	resp, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func callBody(id int, a args, meta string) string {
	arguments, _ := json.Marshal(a)
	return `{"jsonrpc":"2.0","id":` + string(rune('0'+id)) + `,"method":"tools/call","params":{"name":"human","arguments":` + string(arguments) + meta + `}}`
}

func TestAKeyOpensOnlyItsOwnSessions(t *testing.T) {
	q := open(t)
	s, _ := serve(t, q, mcp.Options{})
	resp := post(t, t.Context(), s, "Bearer dbk_bot", "", "", hello)
	session := resp.Header.Get("Mcp-Session-Id")
	_ = resp.Body.Close()
	if session == "" {
		t.Fatal("no session was given")
	}
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	for name, tt := range map[string]struct {
		key, session string
		want         int
	}{
		"its own key":           {"Bearer dbk_bot", session, http.StatusOK},
		"no session":            {"Bearer dbk_bot", "", http.StatusOK},
		"another's key":         {"Bearer dbk_other", session, http.StatusNotFound},
		"a session made up":     {"Bearer dbk_bot", "mcp-guess.proof", http.StatusNotFound},
		"a session cut short":   {"Bearer dbk_bot", session[:len(session)-1], http.StatusNotFound},
		"no key":                {"", session, http.StatusUnauthorized},
		"a wrong key":           {"Bearer dbk_nobody", session, http.StatusUnauthorized},
		"an operator's session": {"Bearer session", "", http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			resp := post(t, t.Context(), s, tt.key, tt.session, legacy, list)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != tt.want {
				t.Errorf("status %d, want %d: %s, %v", resp.StatusCode, tt.want, body, err)
			}
			if resp.StatusCode == http.StatusUnauthorized && resp.Header.Get("WWW-Authenticate") == "" {
				t.Error("401 without WWW-Authenticate")
			}
		})
	}
	t.Run("after a restart", func(t *testing.T) {
		again, _ := serve(t, q, mcp.Options{})
		resp := post(t, t.Context(), again, "Bearer dbk_bot", session, legacy, list)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("a session from before is refused with %d", resp.StatusCode)
		}
	})
	t.Run("too much", func(t *testing.T) {
		resp := post(t, t.Context(), s, "Bearer dbk_bot", session, legacy, strings.Repeat(" ", 9<<20))
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("status %d", resp.StatusCode)
		}
	})
}

func TestADroppedConnectionEndsTheCallAndNotTheOperation(t *testing.T) {
	for _, version := range []string{modern, legacy} {
		t.Run(version, func(t *testing.T) {
			q := open(t)
			s, _ := serve(t, q, mcp.Options{})
			meta := `,"_meta":{"progressToken":"p"}`
			if version == modern {
				meta = `,"_meta":{"progressToken":"p","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
			}
			ctx, drop := context.WithCancel(t.Context())
			defer drop()
			resp := post(t, ctx, s, "Bearer dbk_bot", "", version, callBody(2, ask("Hold on"), meta))
			defer resp.Body.Close()
			line := firstData(t, resp.Body)
			if !strings.Contains(line, "notifications/progress") {
				t.Fatalf("first came %s", line)
			}
			op := requested(t, q, bot, 1)
			until(t, "the agent is shown as waiting", func() (bool, bool) { return true, q.PresenceOf(op.ID).Waiting })
			drop()
			until(t, "nobody waits", func() (bool, bool) { return true, !q.PresenceOf(op.ID).Waiting })
			answer(t, q, op.ID, human.Answer{HumanInput: "I held"})
			if delivered(t, q, op.ID) {
				t.Fatal("an answer nobody read counts as delivered")
			}
			r := overHTTP(t, s, "dbk_bot", modern).use(ask("Hold on"))
			if !r.Attached || r.OperationID != op.ID || r.HumanInput != "I held" {
				t.Errorf("asked again: %+v", r)
			}
			until(t, "it counts as delivered", func() (bool, bool) { return true, delivered(t, q, op.ID) })
		})
	}
}

// firstData is the first event of a stream.
func firstData(t testing.TB, body io.Reader) string {
	t.Helper()
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			return data
		}
	}
	t.Fatalf("the stream ended: %v", lines.Err())
	return ""
}

// Older clients keep the connection open when they give a call up, and say so in a message of its own.
func TestACancelledCallIsNotADelivery(t *testing.T) {
	q := open(t)
	s, _ := serve(t, q, mcp.Options{})
	hi := post(t, t.Context(), s, "Bearer dbk_bot", "", "", hello)
	session := hi.Header.Get("Mcp-Session-Id")
	_ = hi.Body.Close()
	resp := post(t, t.Context(), s, "Bearer dbk_bot", session, legacy, callBody(7, ask("Too long"), `,"_meta":{"progressToken":1}`))
	defer resp.Body.Close()
	firstData(t, resp.Body)
	op := requested(t, q, bot, 1)
	until(t, "it waits", func() (bool, bool) { return true, q.PresenceOf(op.ID).Waiting })
	cancelled := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"timeout"}}`

	stranger := post(t, t.Context(), s, "Bearer dbk_other", "", legacy, cancelled)
	_ = stranger.Body.Close()
	if !q.PresenceOf(op.ID).Waiting {
		t.Error("a stranger ended the call")
	}
	own := post(t, t.Context(), s, "Bearer dbk_bot", session, legacy, cancelled)
	_ = own.Body.Close()
	if own.StatusCode != http.StatusAccepted {
		t.Errorf("the cancellation got %d", own.StatusCode)
	}
	until(t, "nobody waits", func() (bool, bool) { return true, !q.PresenceOf(op.ID).Waiting })
	answer(t, q, op.ID, human.Answer{HumanInput: "here"})
	rest, err := io.ReadAll(resp.Body)
	if err != nil || bytes.Contains(rest, []byte("here")) {
		t.Errorf("after the cancellation came %q, %v", rest, err)
	}
	if delivered(t, q, op.ID) {
		t.Error("an answer nobody read counts as delivered")
	}
}

func TestShuttingDownAnswersWhoWaits(t *testing.T) {
	q := open(t)
	s, h := serve(t, q, mcp.Options{})
	c := overHTTP(t, s, "dbk_bot", modern)
	notes := make(chan note, 10)
	done := c.start(ask("Until the end"), notes)
	<-notes
	h.EndWaits()
	r := <-done
	if r.Status != "pending" || !strings.Contains(r.Message, "nothing is lost") || !strings.Contains(r.Next, string(r.OperationID)) {
		t.Errorf("%+v", r)
	}
	if op := requested(t, q, bot, 1); op.ID != r.OperationID {
		t.Errorf("the queue has %s, the agent was told %s", op.ID, r.OperationID)
	}
}

func TestPatienceOverHTTP(t *testing.T) {
	s, _ := serve(t, open(t), mcp.Options{Patience: 50 * time.Millisecond})
	if r := overHTTP(t, s, "dbk_bot", legacy).use(ask("Anybody?")); r.Status != "pending" || r.OperationID == "" {
		t.Errorf("%+v", r)
	}
}
