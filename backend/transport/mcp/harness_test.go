package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/journaltest"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/store/attachments"
	"deskbell/backend/store/sqlite"
	mcpserver "deskbell/backend/transport/mcp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	bot   = human.Actor{Role: human.Agent, Name: "release-bot"}
	other = human.Actor{Role: human.Agent, Name: "migrator"}
	mei   = human.Actor{Role: human.Operator, Name: "Mei"}
)

const (
	modern = "2026-07-28"
	legacy = "2025-11-25"
)

// open makes a running queue over a real SQLite file, stopped when the test ends.
func open(t testing.TB) *queue.Queue {
	t.Helper()
	q, _ := openStore(t)
	return q
}

// digest is what an answer to an operation is bound to.
func digest(t testing.TB, q *queue.Queue, id human.OperationID) string {
	t.Helper()
	op, err := q.Get(context.Background(), mei, id)
	if err != nil {
		t.Fatal(err)
	}
	return op.Digest
}

// openStore is open, with the file.
func openStore(t testing.TB) (*queue.Queue, *sqlite.Store) {
	t.Helper()
	store, err := sqlite.Open(context.Background(), t.TempDir(), sqlite.Options{Key: journaltest.Key})
	if err != nil {
		t.Fatal(err)
	}
	q := queue.New(store, store, queue.Options{Receipts: &receipt.Maker{Key: journaltest.Key}, Files: attachments.New(t.TempDir(), attachments.Options{})})
	if err := q.Load(context.Background()); err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = q.Run(running) })
	t.Cleanup(func() {
		stop()
		wg.Wait()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return q, store
}

// A note is one notification of progress.
type note struct {
	Number float64
	Text   string
}

// A client is a connected MCP client; a call's notes of progress come to its own channel.
type client struct {
	t testing.TB
	*mcp.ClientSession

	mu    sync.Mutex
	notes map[string]chan note
}

// connect connects a client that progress keeps waiting.
func connect(t testing.TB, transport mcp.Transport, version string) *client {
	return connectAs(t, "claude-code", transport, version)
}

func connectAs(t testing.TB, name string, transport mcp.Transport, version string) *client {
	t.Helper()
	c := &client{t: t, notes: map[string]chan note{}}
	m := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			c.mu.Lock()
			ch := c.notes[r.Params.ProgressToken.(string)]
			c.mu.Unlock()
			ch <- note{r.Params.Progress, r.Params.Message}
		},
	})
	s, err := m.Connect(context.Background(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	c.ClientSession = s
	return c
}

// inMemory connects a client to one agent's server.
func inMemory(t testing.TB, ringer mcpserver.Ringer, opts mcpserver.Options, version string) *client {
	return inMemoryAs(t, "claude-code", ringer, opts, version)
}

func inMemoryAs(t testing.TB, name string, ringer mcpserver.Ringer, opts mcpserver.Options, version string) *client {
	t.Helper()
	near, far := mcp.NewInMemoryTransports()
	session, err := mcpserver.New(ringer, opts).Connect(context.Background(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := connectAs(t, name, far, version)
	t.Cleanup(func() {
		_ = c.Close()
		_ = session.Wait()
	})
	return c
}

// result is what the tests read of a tool result.
type result struct {
	Status      string
	OperationID human.OperationID `json:"operation_id"`
	Attached    bool
	State       human.State
	Overdue     bool
	Message     string
	Next        string
	Question    string
	Decision    string
	Verdict     string
	Steps       []human.StepResult
	HumanInput  string `json:"human_input"`
	Result      string `json:"execution_result"`
	Summary     string
	KeyFindings []string `json:"key_findings"`
	Findings    []struct {
		Text, Kind string
		Evidence   []string
		ByHand     bool `json:"by_hand"`
	}
	Suggestions []struct {
		Text     string
		Evidence []string
	}
	Evidence []struct {
		Label, Kind, Text, When, Where, Picture, Missing string
	}
	Fields      map[string]string
	Sources     map[string]string `json:"field_sources"`
	Reason      string
	By          string
	Kind        string
	Field       string
	Text        string
	NextOffset  int `json:"next_offset"`
	Total       int `json:"total_characters"`
	Cut         []string
	Attachments []string
	Files       []struct {
		ID      human.AttachmentID `json:"attachment_id"`
		Name    string
		Media   string `json:"media_type"`
		Content string
	}
	Recordings []struct {
		ID      human.RecordingID `json:"recording_id"`
		Actions []string
		Missing string
	}
	Messages []struct{ From, Text string }
	Pending  []struct {
		OperationID human.OperationID `json:"operation_id"`
	}
	Unread []struct {
		OperationID human.OperationID `json:"operation_id"`
	}
	ActionType  string `json:"action_type"`
	failed      bool
	images      []*mcp.ImageContent
	resources   []*mcp.ResourceContents
	textAndJSON [2]string
}

type args map[string]any

func (a args) with(more args) args {
	both := args{}
	for _, m := range []args{a, more} {
		for k, v := range m {
			both[k] = v
		}
	}
	return both
}

// try calls the tool; progress, where not nil, gets the notes.
func (c *client) try(ctx context.Context, a args, progress chan note) (result, error) {
	params := &mcp.CallToolParams{Name: "human", Arguments: map[string]any(a)}
	if progress != nil {
		token := time.Now().Format(time.RFC3339Nano)
		c.mu.Lock()
		c.notes[token] = progress
		c.mu.Unlock()
		params.SetProgressToken(token)
	}
	res, err := c.CallTool(ctx, params)
	if err != nil {
		return result{}, err
	}
	structured, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return result{}, err
	}
	r := result{failed: res.IsError, textAndJSON: [2]string{res.Content[0].(*mcp.TextContent).Text, string(structured)}}
	for _, more := range res.Content[1:] {
		if image, is := more.(*mcp.ImageContent); is {
			r.images = append(r.images, image)
		} else {
			r.resources = append(r.resources, more.(*mcp.EmbeddedResource).Resource)
		}
	}
	return r, json.Unmarshal([]byte(r.textAndJSON[0]), &r)
}

// use calls the tool and expects it to work.
func (c *client) use(a args) result {
	c.t.Helper()
	r, err := c.try(context.Background(), a, nil)
	if err != nil {
		c.t.Fatalf("%v: %v", a, err)
	}
	if r.failed {
		c.t.Fatalf("%v: %s", a, r.textAndJSON[0])
	}
	return r
}

// start calls the tool on the side; the result comes when it comes.
func (c *client) start(a args, progress chan note) <-chan result {
	done := make(chan result, 1)
	go func() {
		r, err := c.try(context.Background(), a, progress)
		if err != nil {
			c.t.Error(err)
		}
		done <- r
	}()
	return done
}

// ask is a usual request.
func ask(words string) args {
	return args{"action": "invoke", "action_type": "feedback", "description": words}
}

// requested waits until the agent has a number of open operations and returns the last.
func requested(t testing.TB, q *queue.Queue, by human.Actor, n int) human.Operation {
	t.Helper()
	return until(t, "it rings", func() (human.Operation, bool) {
		page, err := q.List(t.Context(), by, queue.Filter{Open: true, AgentID: by.Name})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Operations) != n {
			return human.Operation{}, false
		}
		return page.Operations[0], true
	})
}

// until asks again and again, for ten seconds at most.
func until[T any](t testing.TB, what string, is func() (T, bool)) T {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-tick.C {
		if v, ok := is(); ok {
			return v
		}
	}
	t.Fatalf("waited in vain until %s", what)
	panic("unreachable")
}

// pass lets time go by on a synctest bubble's clock.
func pass(d time.Duration) { <-time.After(d) }

func answer(t testing.TB, q *queue.Queue, id human.OperationID, a human.Answer) {
	t.Helper()
	if _, err := q.Complete(context.Background(), mei, id, a, digest(t, q, id)); err != nil {
		t.Fatal(err)
	}
}

// delivered says whether the operation's end counts as read.
func delivered(t testing.TB, q *queue.Queue, id human.OperationID) bool {
	t.Helper()
	op, err := q.Get(context.Background(), mei, id)
	if err != nil {
		t.Fatal(err)
	}
	return op.DeliveredAt != nil
}

// keys are the bearer keys of the HTTP tests.
var keys = map[string]human.Actor{"Bearer dbk_bot": bot, "Bearer dbk_other": other, "Bearer session": mei}

func serve(t testing.TB, q *queue.Queue, opts mcpserver.Options) (*httptest.Server, *mcpserver.HTTP) {
	t.Helper()
	h := mcpserver.HTTPHandler(func(r *http.Request) (human.Actor, error) {
		if a, ok := keys[r.Header.Get("Authorization")]; ok {
			return a, nil
		}
		return human.Actor{}, human.Errorf(human.Unauthorized, "no such key")
	}, func(by human.Actor) mcpserver.Ringer { return mcpserver.ForQueue(q, nil, by) }, opts)
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s, h
}

// bearer is an HTTP client's key, and what its connections can be cut with.
type bearer struct {
	key  string
	base *http.Transport
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.key)
	return b.base.RoundTrip(r)
}

func overHTTP(t testing.TB, s *httptest.Server, key, version string) *client {
	t.Helper()
	base := &http.Transport{}
	c := connect(t, &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: &http.Client{Transport: bearer{key, base}}, MaxRetries: -1}, version)
	t.Cleanup(func() {
		_ = c.Close()
		base.CloseIdleConnections()
	})
	return c
}
