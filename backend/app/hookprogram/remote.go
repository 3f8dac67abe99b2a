package hookprogram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/store/datadir"
	"deskbell/backend/transport/client/small"
	"deskbell/backend/transport/hook"
)

// A judge asks the Deskbell that runs on a data folder. When none runs there, it judges by itself.
type judge struct {
	dir, client string
	url         string // or unix: and a path, of the server that was asked first; a question is asked of no other
	away        away
}

var _ hook.Judge = (*judge)(nil)

func newJudge(dir, client string) *judge {
	j := &judge{dir: dir, client: client}
	j.away = away{dir: dir, client: client, key: j.key}
	return j
}

// KeyFile is where the key of a client's hooks is kept.
func KeyFile(dir, client string) string { return filepath.Join(dir, "hooks", client+".key") }

// Evaluate implements hook.Judge.
func (j *judge) Evaluate(ctx context.Context, call human.ToolCall, how service.Asking) (_ human.Judgement, err error) {
	if call.Home == "" {
		call.Home, _ = os.UserHomeDir() // without, the engine is the more careful
	}
	how.Process, how.Parent = os.Getpid(), os.Getppid()
	if j.url == "" {
		server, err := datadir.Find(j.dir)
		if err != nil {
			return j.away.judge(ctx, call)
		}
		j.url = server.At()
	}
	body, err := question(call, how)
	if err != nil {
		return human.Judgement{}, err
	}
	wait := max(0, min(how.Wait, time.Minute))
	// Only what hooks tell their clients.
	var got human.Judgement
	var verdict json.RawMessage
	err = j.post(ctx, "/api/gate/evaluate?wait="+number(wait.Seconds()), wait+answerTime, body, map[string]any{
		"decision": &got.Decision, "message": &got.Message, "operation_id": &got.OperationID, "args": &got.Args, "verdict": &verdict,
	})
	if errors.Is(err, small.ErrNobody) && how.Question == "" {
		return j.away.judge(ctx, call)
	}
	if err == nil && got.Message == "" && len(verdict) > 0 {
		err = hook.Take(verdict, map[string]any{"reason": &got.Verdict.Reason})
	}
	return got, err
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// question is the body of a call that is to be judged. It is written field by field: encoding/json takes longer to make
// ready for such a struct than the server to judge.
func question(call human.ToolCall, how service.Asking) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	var wrong error
	put := func(name string, value any, is bool) {
		if !is || wrong != nil {
			return
		}
		b.WriteString(`,"` + name + `":`)
		wrong = e.Encode(value)
	}
	for _, f := range []struct{ name, text string }{
		{"cwd", call.Cwd}, {"root", call.Root}, {"home", call.Home}, {"about", call.About}, {"client", call.Client}, {"task", call.Task},
		{"session_id", call.SessionID}, {"call_id", call.CallID}, {"operation_id", string(how.Question)},
	} {
		put(f.name, f.text, f.text != "")
	}
	put("tool", call.Tool, true)
	put("args", call.Args, len(call.Args) > 0)
	put("schema", call.Schema, len(call.Schema) > 0)
	put("was", call.Was, len(call.Was) > 0)
	put("annotations", call.Annotations, call.Annotations != human.Annotations{})
	put("fixed", call.Fixed, call.Fixed)
	put("process_id", how.Process, how.Process > 0)
	put("parent_id", how.Parent, how.Parent > 0)
	put("timeout", how.Timeout.Seconds(), how.Timeout > 0)
	if wrong != nil {
		return nil, human.Wrap(human.Invalid, wrong, "the call cannot be written as JSON")
	}
	body := append(b.Bytes(), '}')
	body[0] = '{'
	return body, nil
}

// Withdraw implements hook.Judge.
func (j *judge) Withdraw(ctx context.Context, question human.OperationID, reason string) error {
	body, err := json.Marshal(map[string]string{"operation_id": string(question), "reason": reason})
	if err != nil {
		return human.Wrap(human.Invalid, err, "the reason cannot be written as JSON")
	}
	return j.post(ctx, "/api/human/cancel", answerTime, body, nil)
}

// key is what DESKBELL_KEY says, or the file that the installer made.
func (j *judge) key() (string, error) {
	if key := os.Getenv("DESKBELL_KEY"); key != "" {
		return key, nil
	}
	path := KeyFile(j.dir, j.client)
	text, err := os.ReadFile(path)
	key := strings.TrimSpace(string(text))
	if err != nil || key == "" {
		return "", human.Wrap(human.Unauthorized, err, "its hook has no key (%s); tell your user to run: deskbell hook install %s", path, j.client)
	}
	if strings.ContainsAny(key, " \r\n\t") {
		return "", human.Errorf(human.Unauthorized, "what is in %s is not a key; tell your user to run: deskbell hook install %s", path, j.client)
	}
	return key, nil
}

// answerTime is how long an answer may take, besides what the server was asked to wait.
const answerTime = 30 * time.Second

// post makes one call of the API. The answer's fields are put in their places; see hook.Take.
func (j *judge) post(ctx context.Context, path string, most time.Duration, body []byte, places map[string]any) error {
	key, err := j.key()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	answer, err := small.Post(ctx, j.url, key, path, body)
	if err == nil && places != nil {
		if err := hook.Take(answer, places); err != nil {
			return human.Wrap(human.Unavailable, err, "what answers at %s is not a Deskbell of this version, or stopped while it answered", j.url)
		}
	}
	if human.KindOf(err) == human.Unauthorized {
		return human.Errorf(human.Unauthorized, "%s. Tell your user to run: deskbell hook install %s", strings.TrimRight(human.SafeText(err), "."), j.client)
	}
	return err
}
