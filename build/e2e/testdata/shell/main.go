// The shell is the real window (app.go) around a page that has only what the window's tests need. It is
// compiled in the place of the program's main.go (go build -overlay), because app.go can be reached no
// other way. A test speaks to it over HTTP on loopback: /js runs a script in the page, /said waits for
// the next thing that happened.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing/fstest"

	"github.com/wailsapp/wails/v2/pkg/runtime"

	"deskbell/backend/human"
	"deskbell/backend/platform/window"
)

const page = `<!doctype html>
<meta charset="utf-8">
<title>shell</title>
<style>
  :root { color-scheme: light; font: 13px/20px sans-serif }
  html, body { margin: 0; height: 100% }
  .popup { overflow: hidden }
  .console body, .solid body { background: #f2f2ef }
  .card { box-sizing: border-box; width: 400px; height: 160px; padding: 16px; background: #fff;
          border: 1px solid #e2e2dd; border-radius: 10px; box-shadow: 0 12px 32px rgb(20 18 10 / 14%) }
  button, input { box-sizing: border-box; height: 32px }
  button { position: absolute; left: 16px; top: 112px; width: 120px }
  .card { position: relative }
</style>
<div class="card" id="card">
  <b>release-bot</b><br>Roll out api 2.14.0<br>
  <input id="text" style="width: 200px" aria-label="reply">
  <button id="approve">Approve</button>
</div>
<script>
let url, popup, turn = 0;
const app = window.go.main.App;
const card = document.getElementById("card"), text = document.getElementById("text");
let before = app.Session().then((s) => { url = s.url; popup = s.popup; turn = Math.max(turn, s.turn); return s; });
before.then((s) => { say("page", location.origin, s.token); if (s.open) say("asked", s.open); });
const say = (...words) => before = before.then(() => fetch(url + "/said", {method: "POST", body: words.join(" ")}));
async function mode(name, height) {
  // Before it is shown: what was painted once in a see-through window stays.
  document.documentElement.className = name + (name === "popup" && !popup.transparent ? " solid" : "");
  card.style.margin = (name === "popup" ? popup.pad : 0) + "px";
  const p = await app.Mode(name, height, turn);
  say("mode", JSON.stringify(p));
}
document.getElementById("approve").onclick = () => say("clicked");
text.oninput = () => say("typed", text.value);
text.onmousedown = () => app.Focus();
for (const name of ["mode", "open", "keys", "failed", "quiet", "woke"])
  window.runtime.EventsOn(name, (...args) => {
    if (name === "keys") text.focus();
    if (name === "mode") turn = args.pop();
    say("event", name, ...args);
  });
</script>
`

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	said := make(chan string, 100)
	counts := make(chan int)
	var pending atomic.Int64
	var app *App
	quiet := quieter{wish: window.Quiet{Follow: true, Critical: true}}
	woke := make(chan struct{}, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /woke", func(http.ResponseWriter, *http.Request) { woke <- struct{}{} })
	mux.HandleFunc("POST /said", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		body, _ := io.ReadAll(r.Body)
		said <- string(body)
	})
	mux.HandleFunc("GET /said", func(w http.ResponseWriter, r *http.Request) {
		select {
		case s := <-said:
			_, _ = io.WriteString(w, s)
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("POST /js", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		runtime.WindowExecJS(app.ctx, string(body))
	})
	mux.HandleFunc("POST /pending", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.FormValue("n"))
		counts <- n
	})
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(listener) }()
	fmt.Println("http://" + listener.Addr().String())

	app = NewApp(Deps{
		Args:   strings.Fields(os.Getenv("SHELL_ARGS")),
		Places: os.Getenv("SHELL_PLACES"),
		Log:    slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Open: func(context.Context) (Home, error) {
			return Home{
				Session:  Session{URL: "http://" + listener.Addr().String(), Token: "secret", Locale: "en"},
				Answerer: answers(said),
				Recorder: recorder(said),
				Waiting: func() []human.Operation {
					return []human.Operation{
						{ID: "op_1", AgentID: "release_bot", Description: "Roll out\napi_2", Risk: human.HighRisk},
						{ID: "op_2", AgentID: "evil\u202e\nQuit…", Description: "Harmless\u202egnp\u200b " + strings.Repeat("x", 300)},
					}[:min(2, pending.Load())]
				},
				Status: func(context.Context) window.Status {
					return window.Status{Policy: "strict", Agents: int(pending.Load()), Newer: os.Getenv("SHELL_NEWER")}
				},
				Quieter:    &quiet,
				OnSettings: func(changed func()) { quiet.changed = changed },
				Woke:       woke,
				Pending:    func() int { return int(pending.Load()) },
				Watch: func(ctx context.Context, changed func(int)) {
					for {
						select {
						case n := <-counts:
							pending.Store(int64(n))
							changed(n)
						case <-ctx.Done():
							return
						}
					}
				},
				Close: func() { said <- "closed" },
			}, nil
		},
	})
	if err := app.run(fstest.MapFS{"index.html": {Data: []byte(page)}}); err != nil {
		log.Fatal(err)
	}
}

// quieter keeps what is wished of do-not-disturb.
type quieter struct {
	mu      sync.Mutex
	wish    window.Quiet
	changed func()
}

func (q *quieter) Quiet() window.Quiet { q.mu.Lock(); defer q.mu.Unlock(); return q.wish }

func (q *quieter) SetQuiet(wish window.Quiet) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wish.Until, q.wish.Critical = wish.Until, wish.Critical
	go q.changed()
	return nil
}

// recorder says what it was asked for; nothing is recorded.
type recorder chan string

func (r recorder) ToggleRecording(context.Context) error  { r <- "recorder toggle"; return nil }
func (r recorder) StopRecording(context.Context) error    { r <- "recorder stop"; return nil }
func (r recorder) DiscardRecording(context.Context) error { r <- "recorder discard"; return nil }

func (recorder) WatchRecording(ctx context.Context, _ func(window.Recording)) { <-ctx.Done() }

// answers says what was answered in a notification; an operation named "late" has an answer already.
type answers chan string

func (a answers) Answer(_ context.Context, id, decision string) error {
	if id == "late" {
		return fmt.Errorf("somebody was faster")
	}
	a <- "answer " + id + " " + decision
	return nil
}
