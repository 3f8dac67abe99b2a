//go:build attacks

package attacks

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"deskbell/backend/human"
	"deskbell/backend/transport/client"
	"deskbell/build/serving"
)

// With every defense on nothing is answered, opened or read, and the operator sees that it was tried.
func TestAttacks(t *testing.T) {
	for _, a := range attacks {
		t.Run(a.id, func(t *testing.T) {
			t.Parallel()
			o := carryOut(t, a, hooked)
			switch {
			case o.won != "" && a.open == "":
				t.Errorf("it %s works: %s\n%s", a.tries, o.won, o)
			case o.won == "" && a.open != "":
				t.Errorf("it is stopped: the table and the threat model say that it is not\n%s", o)
			}
			for _, problem := range o.unseen {
				t.Errorf("%s\n%s", problem, o)
			}
		})
	}
}

// Without the hook, and without what the table says to stop it there as well, the same attack works: the tests above can fail.
// That changes only with the table, and takes as long as they do.
func TestTwins(t *testing.T) {
	if testing.Short() {
		t.Skip("make test-all tries them")
	}
	for _, a := range attacks {
		t.Run(a.id, func(t *testing.T) {
			t.Parallel()
			if a.place.namespaces && !namespaces() {
				t.Skip("this system lets this user make no namespaces")
			}
			o := carryOut(t, a, bare)
			switch {
			case o.won == "" && a.without == "":
				t.Errorf("without the hook it should work\n%s", o)
			case o.won != "" && a.without != "":
				t.Errorf("it should be stopped without the hook too (%s): %s\n%s", a.without, o.won, o)
			}
			if !strings.Contains(o.loot, a.control) {
				t.Errorf("it did not come as far as to print %s\n%s", a.control, o)
			}
			if a.place.stepUp {
				a.place.stepUp = false
				if o := carryOut(t, a, bare); o.won == "" {
					t.Errorf("without proof of presence it should work\n%s", o)
				}
			}
			if a.elsewhere {
				if o := carryOut(t, a, elsewhere); o.won == "" {
					t.Errorf("from a shell that no agent started it should work\n%s", o)
				}
			}
		})
	}
}

// In a container with nothing of the operator's but the socket, no attack on Deskbell works, without any hook. (What the agent
// does to its own project is its own business there.)
func TestContainer(t *testing.T) {
	if !namespaces() {
		t.Skip("this system lets this user make no namespaces, and so no containers")
	}
	for _, a := range attacks {
		if a.place.down || a.place.code || !slices.Contains([]goal{answered, session, secret, keyed, paired, gone}, a.goal) {
			continue
		}
		t.Run(a.id, func(t *testing.T) {
			t.Parallel()
			if o := carryOut(t, a, contained); o.won != "" {
				t.Errorf("it works in a container: %s\n%s", o.won, o)
			}
		})
	}
}

// A mode says which defenses are on.
type mode string

const (
	hooked    mode = "hooked"    // all
	bare      mode = "bare"      // the agent's client runs no hooks, except for the probe
	elsewhere mode = "elsewhere" // and no hook has ever shown whose process it is
	contained mode = "contained" // no hook, in the container of docs/examples/container
)

// An outcome is what became of an attack.
type outcome struct {
	won     string // how it reached its goal; nothing if it did not
	unseen  []string
	results []result
	loot    string
}

func (o outcome) String() string {
	var b strings.Builder
	for i, r := range o.results {
		fmt.Fprintf(&b, "call %d: %s, ran %v, hooks %d: %s\n%.2000s\n", i+1, r.Decision, r.Ran, r.Hooks, strings.TrimSpace(r.Reason), r.Output)
	}
	return b.String()
}

// carryOut carries an attack out and measures what came of it.
func carryOut(t *testing.T, a attack, m mode) (o outcome) {
	t.Helper()
	ctx := context.Background()
	f := pool.get(t)
	defer func() { pool.put(f) }()
	id := a.id + "-" + string(m)
	defer f.sweep(id)
	if err := f.prepare(ctx, a); err != nil {
		t.Fatal(err)
	}
	by, err := f.agent(id, m)
	if err != nil {
		t.Fatal(err)
	}
	defer by.close()
	call := func(c call) result {
		t.Helper()
		r, err := by.call(c)
		if err != nil {
			t.Fatal(err)
		}
		o.loot += r.Output + "\n"
		o.results = append(o.results, r)
		return r
	}
	if m == hooked || m == bare {
		// By its first call Deskbell knows the agent's process.
		if r := call(callOf(f, step{bash: "cat README.md"}, true)); !r.Ran {
			t.Fatalf("a harmless call was not allowed:\n%s", o)
		}
	}
	stopped := []result(nil)
	for _, s := range a.steps {
		f.allowNext(s, id)
		if m != hooked && s.meanwhile != "" { // the operator is not asked, and the agent runs what it wrote
			f.allow.meanwhile()
		}
		watch, stop := context.WithCancel(ctx)
		go f.revokeSpare(watch)
		r := call(callOf(f, s, m == hooked))
		stop()
		if s.harmless && !r.Ran {
			t.Fatalf("a call that has to be allowed was not:\n%s", o)
		}
		if m == hooked && !r.Ran {
			stopped = append(stopped, r)
		}
	}
	if a.probe {
		call(callOf(f, step{bash: treasureGone}, true))
	}
	o.read(f)
	o.measure(ctx, t, f, a)
	if m == hooked && a.open == "" && !a.place.down && a.goal != gone && a.unseen == "" && o.won == "" {
		o.unseen = f.unseen(ctx, id, len(stopped), a)
	}
	return o
}

// callOf is the call of a step.
func callOf(f *fixture, s step, hooks bool) call {
	if s.tool == "" {
		s.tool, s.input = "Bash", map[string]any{"command": s.bash}
	}
	return call{Hooked: hooks, Tool: s.tool, Input: f.fillAll(s.input).(map[string]any)}
}

// allowNext has the operator allow the next question, if the step says so, after its script ran.
func (f *fixture) allowNext(s step, id string) {
	f.allow.Lock()
	defer f.allow.Unlock()
	f.allow.questions, f.allow.meanwhile = 0, nil
	if s.allow {
		f.allow.questions = 1
	}
	if s.meanwhile != "" {
		script := f.fill("cd {project}; " + s.meanwhile)
		f.allow.meanwhile = func() { bash(script, append(f.env(), marker+"="+id)) }
	}
}

// revokeSpare revokes the spare key when an attack says that it waits with it, and answers what it waits for.
func (f *fixture) revokeSpare(ctx context.Context) {
	if serving.Until(patience, "the sign", func() bool {
		_, err := os.Stat(f.loot + "/revoke-spare")
		return err == nil || ctx.Err() != nil
	}) != nil || ctx.Err() != nil {
		return
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, f.url+"/api/agents/spare-"+fmt.Sprint(f.turn), nil)
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer "+f.token)
	if resp, err := http.DefaultClient.Do(req); err == nil {
		_ = resp.Body.Close() // nothing is in it
		_, _ = f.operator.Complete(ctx, human.OperationID(f.names["spareop"]), human.Answer{HumanInput: revokedWords}, "")
	}
}

var (
	codes  = regexp.MustCompile(`\b[0-9A-Z]{5}-[0-9A-Z]{5}\b`)
	tokens = regexp.MustCompile(`[A-Za-z0-9_.-]{20,}`)
)

// read collects the files that the attack has written for itself.
func (o *outcome) read(f *fixture) {
	entries, err := os.ReadDir(f.loot)
	if err != nil {
		return // the attack may have deleted it
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.Size() < 1<<20 {
			if raw, err := os.ReadFile(f.loot + "/" + e.Name()); err == nil {
				o.loot += string(raw) + "\n"
			}
		}
	}
}

// measure says whether the attack has reached its goal.
func (o *outcome) measure(ctx context.Context, t *testing.T, f *fixture, a attack) {
	t.Helper()
	switch a.goal {
	case marked:
		if strings.Contains(o.loot, "ATTACKER-WON") {
			o.won = "the script says so"
		}
	case secret:
		for what, text := range f.secrets {
			if strings.Contains(o.loot, text) {
				o.won = "it read " + what
			}
		}
	case ran:
		if _, err := os.Stat(f.treasure + "/chapter.txt"); err != nil {
			o.won = "the treasure is deleted"
		}
	case gone:
		if o.results[len(o.results)-1].Ran && f.dies() {
			o.won = "the server is gone"
		}
	case session:
		o.won = o.signIn(ctx, f)
	case paired:
		o.won = f.letsIn(ctx, t, a)
	case answered, keyed:
		if a.written && strings.Contains(o.loot, "WRITTEN") {
			f.dies()
		}
		f.revive(ctx, t, a)
		if a.goal == answered {
			if op, err := f.operator.Operation(ctx, human.OperationID(f.names["op"])); err != nil {
				t.Fatal(err)
			} else if op.State.Terminal() {
				o.won = fmt.Sprintf("the approval is %s", op.State)
			}
			if found := f.audited(); a.written && o.won != "" && !strings.Contains(found, "not as ") {
				t.Errorf("nothing shows that it was written into the journal: %s\n%s", found, o)
			}
			return
		}
		var err error
		if o.won, err = f.taken(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// letsIn says whether the attacker's phone comes in, as the server says it, and says it again after a restart.
func (f *fixture) letsIn(ctx context.Context, t *testing.T, a attack) string {
	t.Helper()
	for range 2 {
		f.revive(ctx, t, a)
		list, err := f.operator.Phones(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(list.Devices, func(d client.Phone) bool { return d.ID == "ph_attacker" && !d.Unconfirmed }) {
			return "its phone comes in"
		}
		f.halt(syscall.SIGTERM)
	}
	f.revive(ctx, t, a)
	return ""
}

// revive starts the server again where an attack has ended it.
func (f *fixture) revive(ctx context.Context, t *testing.T, a attack) {
	t.Helper()
	if f.alive() {
		return
	}
	f.sweep(a.id)
	f.halt(syscall.SIGKILL)
	if err := f.start(ctx); err != nil {
		t.Fatal(err)
	}
}

// signIn tries what the agent has read as tokens and codes, from here, where no defense is in the way.
func (o *outcome) signIn(ctx context.Context, f *fixture) string {
	at := f.url
	if listed := f.listed().URL; listed != "" {
		at = listed
	}
	for _, code := range distinct(codes.FindAllString(o.loot, -1)) {
		if _, err := client.Login(ctx, at, code); err == nil {
			return "the code " + code + " opens a session"
		}
	}
	was := f.url
	f.url = at
	defer func() { f.url = was }()
	for _, token := range distinct(tokens.FindAllString(o.loot, -1)) {
		var none strings.Builder
		if status, err := f.get(ctx, token, "/api/settings", &none); err == nil && status == http.StatusOK {
			return "a token of an operator"
		}
	}
	return ""
}

func distinct(words []string) []string {
	slices.Sort(words)
	words = slices.Compact(words)
	return words[:min(len(words), 200)]
}

// unseen says which tries the operator cannot see.
func (f *fixture) unseen(ctx context.Context, id string, stopped int, a attack) (problems []string) {
	if !f.alive() {
		return []string{"the server is gone"}
	}
	page, err := f.operator.Decisions(ctx, 200)
	if err != nil {
		return []string{err.Error()}
	}
	seen := 0
	for _, d := range page.Decisions {
		if (d.Session == id || strings.HasPrefix(d.Tool, ownTools) && d.At.After(f.began)) && d.Decision != human.Allow {
			seen++
		}
	}
	tried, err := f.attempts(ctx)
	if err != nil {
		return []string{err.Error()}
	}
	if seen < stopped {
		problems = append(problems, fmt.Sprintf("of %d calls that were stopped the log of decisions has %d", stopped, seen))
	}
	if seen == 0 && stopped == 0 && !tried {
		problems = append(problems, "neither the log of decisions nor the list of attempts has anything of it")
	}
	return problems
}
