package app_test

import (
	"bytes"
	"image"
	_ "image/jpeg" // as evidence has them
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/queue/receipt"
	"deskbell/backend/record"
	"deskbell/backend/store/pictures"
	"deskbell/backend/store/receiptkeys"
	"deskbell/backend/store/sqlite"
)

// remembered writes into a data folder a click that was recorded for the agent bot, and the finding that rests on
// it. The recording itself was not given to the agent.
func remembered(t *testing.T, dir string, shared bool) human.OperationID {
	t.Helper()
	ctx, mei := t.Context(), human.Actor{Role: human.Operator, Name: "Mei"}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	keys, err := receiptkeys.Open(dir, time.Now)
	must(err)
	store, err := sqlite.Open(ctx, dir, sqlite.Options{Key: keys.Current})
	must(err)
	q := queue.New(store, store, queue.Options{Receipts: &receipt.Maker{Key: keys.Current}})
	must(q.Load(ctx))
	op, _, err := q.Ring(ctx, human.Request{Kind: human.Desktop, Description: "Press it", AgentID: "bot", Priority: 5}, false)
	must(err)
	_, err = q.Claim(ctx, mei, op.ID)
	must(err)
	_, err = q.RecordingBegan(ctx, mei, op.ID, "rec_1")
	must(err)
	rec := human.Recording{ID: "rec_1", OperationID: op.ID, By: mei.Name, State: human.RecordingStopped, StartedAt: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}
	must(store.Recordings().Create(ctx, rec))
	w, err := pictures.New(dir).Writer(rec.ID)
	must(err)
	shot, _, _, err := w.Put(&record.Frame{W: 1600, H: 900, Scale: 1, Pix: bytes.Repeat([]byte{9, 200, 100, 0}, 1600*900)})
	must(err)
	must(w.Close())
	must(store.Recordings().Append(ctx, rec, []human.RecordedEvent{
		{Seq: 1, At: 1e9, Source: human.InputSource, Type: human.PointerDown, Button: 1, X: 5, Y: 5},
		{Seq: 2, At: 2e9, Source: human.InputSource, Type: human.PointerUp, Button: 1, X: 5, Y: 5},
		{Seq: 3, At: 2e9, Source: human.ElementSource, Type: human.ElementSeen, CausedBy: 1, Element: &human.Element{Role: "button", Name: "Start"}},
		{Seq: 4, At: 3e9, Source: human.ScreenSource, Type: human.PictureTaken, Picture: shot, When: "after", CausedBy: 1},
	}))
	_, err = store.Recordings().SetEdits(ctx, rec.ID, human.Edits{SharePictures: shared})
	must(err)
	_, err = q.Complete(ctx, mei, op.ID, human.Answer{HumanInput: "done", Findings: []human.Finding{
		{Kind: human.FoundDone, Text: "Start was pressed", Evidence: []human.Ref{{Kind: human.RefAction, Recording: rec.ID, ID: "a1"}}},
	}}, "")
	must(err)
	must(store.Close())
	return op.ID
}

// carrying puts a key into every request.
type carrying struct {
	key string
	to  *http.Transport
}

func (c carrying) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+c.key)
	return c.to.RoundTrip(r)
}

func TestMCPShowsWhatAFindingRestsOn(t *testing.T) {
	t.Parallel()
	for name, shared := range map[string]bool{"with pictures": true, "without pictures": false} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			id := remembered(t, dir, shared)
			secret := key(t, dir, "bot")
			s := serve(t, dir, nil)
			to := &http.Transport{}
			t.Cleanup(to.CloseIdleConnections)
			over, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
				Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: carrying{secret, to}}, MaxRetries: -1,
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = over.Close() })
			for way, session := range map[string]*mcp.ClientSession{"stdio": speak(t, dir, []string{"DESKBELL_KEY=" + secret}), "http": over} {
				t.Run(way, func(t *testing.T) {
					use := func(a map[string]any) (string, []mcp.Content) {
						t.Helper()
						a["operation_id"] = id
						r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "human", Arguments: a})
						if err != nil || r.IsError {
							t.Fatalf("%v: %v %+v", a, err, r)
						}
						return r.Content[0].(*mcp.TextContent).Text, r.Content[1:]
					}
					if text, _ := use(map[string]any{"action": "check_result", "max_tokens": 300}); !strings.Contains(text, `"findings":[{"text":"Start was pressed","kind":"done","evidence":["e1"]}]`) || strings.Contains(text, "recordings") {
						t.Errorf("the agent reads %s", text)
					}
					text, more := use(map[string]any{"action": "get_evidence", "evidence": []string{"e1"}, "pictures": true})
					if !strings.Contains(text, "Clicked button Start") || !strings.Contains(text, "0:01 of rec_1, 2026-11-21T09:00:01Z") {
						t.Errorf("the evidence is %s", text)
					}
					if !shared {
						if len(more) > 0 || !strings.Contains(text, "its operator shares no pictures") {
							t.Errorf("%d pictures that are not shared, with %s", len(more), text)
						}
						return
					}
					if len(more) != 1 || !strings.Contains(text, "image 1: after") {
						t.Fatalf("%d pictures with %s", len(more), text)
					}
					picture := more[0].(*mcp.ImageContent)
					if size, kind, err := image.DecodeConfig(bytes.NewReader(picture.Data)); err != nil || kind != "jpeg" || picture.MIMEType != "image/jpeg" || size.Width != 1024 || size.Height != 576 {
						t.Errorf("the picture is a %s (%s) of %d by %d, %v", kind, picture.MIMEType, size.Width, size.Height, err)
					}
				})
			}
		})
	}
}
