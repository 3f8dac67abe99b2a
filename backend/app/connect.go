package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/app/hookprogram"
	"deskbell/backend/human"
	"deskbell/backend/store/datadir"
	"deskbell/backend/store/disk"
	"deskbell/backend/transport/cli"
	"deskbell/backend/transport/hook/install"
)

// proofsFile is where a data folder keeps what became of the last requests through clients' settings.
const proofsFile = "clients.json"

// How long proving takes at most: until the request has arrived, and until its operator has answered.
const (
	proofArrives  = 30 * time.Second
	proofAnswered = 10 * time.Minute
)

// ownVariables are those that this process may have and a client does not.
var ownVariables = []string{"DESKBELL_KEY", "DESKBELL_URL", "DESKBELL_DATA", "DESKBELL_CONFIG", "DESKBELL_AGENT", "DESKBELL_TOKEN"}

// clients connects programs that run agents to the Deskbell of a data folder. It is safe for concurrent use.
type clients struct {
	dir   string
	keys  func(context.Context) (cli.Keys, error) // to be closed
	admit cli.Admit
	log   *slog.Logger

	life context.Context // of proofs
	end  context.CancelFunc
	work sync.WaitGroup

	mu sync.Mutex // for the settings files and the proofs
}

func newClients(dir string, keys func(context.Context) (cli.Keys, error), admit cli.Admit, log *slog.Logger) *clients {
	c := &clients{dir: dir, keys: keys, admit: admit, log: log}
	c.life, c.end = context.WithCancel(context.Background())
	return c
}

// Close ends the proofs that wait for an answer.
func (c *clients) Close() {
	c.end()
	c.work.Wait()
}

// setup is where the user's settings are, and what of this Deskbell goes into them.
func (c *clients) setup() (at install.Place, s install.Setup, err error) {
	at.Env = os.Getenv
	if at.Home, err = os.UserHomeDir(); err != nil {
		return at, s, human.Wrap(human.Unavailable, err, "your home folder is not known: %v", err)
	}
	self, err := cli.OwnProgram()
	if err != nil {
		return at, s, err
	}
	s.Server = func(client string) []string {
		program := []string{self, "mcp", "--agent", client, "--data", c.dir}
		if patience := install.Patience(client); patience > 0 {
			program = append(program, "--patience", fmt.Sprintf("%gm", patience.Minutes()))
		}
		return program
	}
	s.Hook.Data = c.dir
	s.Hook.Program, err = cli.HookProgram()
	return at, s, err
}

// Program implements api.Clients.
func (c *clients) Program() (string, error) { return cli.OwnProgram() }

// IDs implements cli.Connecting.
func (c *clients) IDs() []string { return install.ClientIDs() }

// List implements api.Clients.
func (c *clients) List(ctx context.Context) ([]human.AgentClient, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys, err := c.allKeys(ctx)
	if err != nil {
		return nil, err
	}
	proofs := c.proofs()
	var out []human.AgentClient
	for _, id := range install.ClientIDs() {
		view, err := c.look(id, proofs, keys)
		if err != nil {
			return nil, err
		}
		out = append(out, view)
	}
	return out, nil
}

// hasKeys says whether there is a database: to look into it would make one.
func (c *clients) hasKeys() bool {
	_, err := os.Stat(filepath.Join(c.dir, datadir.Database))
	return !errors.Is(err, fs.ErrNotExist)
}

func (c *clients) allKeys(ctx context.Context) ([]human.Key, error) {
	if !c.hasKeys() {
		return nil, nil
	}
	keys, err := c.keys(ctx)
	if err != nil {
		return nil, err
	}
	all, err := keys.Keys(ctx)
	return all, errors.Join(err, keys.Close())
}

// look is a client as it is now, with these keys. c.mu is held.
func (c *clients) look(id string, proofs map[string]human.ClientProof, keys []human.Key) (human.AgentClient, error) {
	at, s, err := c.setup()
	if err != nil {
		return human.AgentClient{}, err
	}
	found, err := install.Connect(id, at, s)
	if err != nil {
		return human.AgentClient{}, err
	}
	view := found.AgentClient
	if view.State == human.ClientConnected && cli.Barred(keys, id) {
		said := human.Sayf("Its keys were revoked, and it gets no other. Connect it again to let it in.")
		view.State, view.Revoked, view.Key, view.Problem, view.SaidProblem, view.Next, view.SaidNext = human.ClientChanged, true, "", said.Text, &said, "", nil
	}
	if proof, there := proofs[id]; there {
		view.Proof = &proof
	}
	return view, nil
}

// Connect implements api.Clients.
func (c *clients) Connect(ctx context.Context, id, hash string) (human.AgentClient, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, s, err := c.setup()
	if err != nil {
		return human.AgentClient{}, err
	}
	change, err := install.Connect(id, at, s)
	switch {
	case err != nil:
		return human.AgentClient{}, err
	case change.State == human.ClientTrouble:
		return human.AgentClient{}, human.Errorf(human.Conflict, "%s", change.Problem)
	case hash != change.Hash:
		return human.AgentClient{}, human.Errorf(human.Conflict, "the settings of %s were changed meanwhile; look at the changes again", change.Name)
	}
	// Before the settings: a hook without a key blocks everything. A client without a hook has one, too, by which it is revoked.
	keys, err := c.keys(ctx)
	if err == nil {
		err = errors.Join(cli.EnsureKey(ctx, keys, hookprogram.KeyFile(c.dir, id), id, c.admit), keys.Close())
	}
	if err != nil {
		return human.AgentClient{}, err
	}
	if err := change.Apply(); err != nil {
		return human.AgentClient{}, err
	}
	c.log.Info("client connected", "client", id)
	return c.again(ctx, id)
}

// again is a client after it was changed. c.mu is held.
func (c *clients) again(ctx context.Context, id string) (human.AgentClient, error) {
	keys, err := c.allKeys(ctx)
	if err != nil {
		return human.AgentClient{}, err
	}
	return c.look(id, c.proofs(), keys)
}

// Apart implements cli.Connecting.
func (c *clients) Apart(_ context.Context, id string) (human.AgentClient, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change, err := c.apart(id)
	return change.AgentClient, err
}

// Snippet implements cli.Connecting.
func (c *clients) Snippet(id string) (file, text string, err error) {
	at, s, err := c.setup()
	if err != nil {
		return "", "", err
	}
	if id != "" {
		return install.Snippet(id, at, s.Server(id))
	}
	program := s.Server("my-agent")
	raw, err := json.MarshalIndent(map[string]any{"command": program[0], "args": program[1:]}, "", "  ")
	return "", string(raw) + "\n", err
}

// Undo implements api.Clients.
func (c *clients) Undo(ctx context.Context, id string) (human.AgentClient, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change, err := c.apart(id)
	if err == nil {
		err = change.Apply()
	}
	if err == nil && change.Undo {
		err = c.revoke(ctx, id)
	}
	if err != nil {
		return human.AgentClient{}, err
	}
	proofs := c.proofs()
	if _, there := proofs[id]; there {
		delete(proofs, id)
		if err := c.keep(proofs); err != nil {
			return human.AgentClient{}, err
		}
	}
	c.log.Info("client disconnected", "client", id)
	return c.again(ctx, id)
}

// revoke ends what a client still runs, and lets it start nothing more: what it started keeps its key for as long as it runs, and
// whoever knows the command can start it again.
func (c *clients) revoke(ctx context.Context, id string) error {
	if !c.hasKeys() {
		return nil
	}
	keys, err := c.keys(ctx)
	if err != nil {
		return err
	}
	n, err := keys.RevokeKey(ctx, id)
	if err == nil && n == 0 { // it was put in by hand: what is to be remembered is a key that was revoked
		if _, err = keys.AddKey(ctx, id, false); err == nil {
			_, err = keys.RevokeKey(ctx, id)
		}
	}
	return errors.Join(err, keys.Close())
}

// apart plans to take Deskbell out of a client's settings.
func (c *clients) apart(id string) (install.Connection, error) {
	at, s, err := c.setup()
	if err != nil {
		return install.Connection{}, err
	}
	change, err := install.Disconnect(id, at, s)
	if err == nil && change.State == human.ClientTrouble {
		err = human.Errorf(human.Conflict, "%s", change.Problem)
	}
	return change, err
}

// Prove implements api.Clients.
func (c *clients) Prove(ctx context.Context, id string) (human.ClientProof, error) {
	c.mu.Lock()
	view, err := c.look(id, nil, nil)
	c.mu.Unlock()
	if err != nil {
		return human.ClientProof{}, err
	}
	at, s, err := c.setup()
	if err != nil {
		return human.ClientProof{}, err
	}
	program, env, err := install.Started(id, at)
	if err != nil {
		return human.ClientProof{}, err
	}
	// An agent may have written into the settings: nothing but this very program is started.
	if !slices.Equal(program, s.Server(id)) || len(env) > 0 {
		return human.ClientProof{}, human.Errorf(human.Conflict, "the settings of %s start something else than this Deskbell: %s; connect it again", view.Name, human.OneLine(strings.Join(program, " "), 300))
	}
	session, op, err := c.ask(ctx, view.Name, program)
	if err != nil {
		return c.proved(id, human.ClientProof{}, human.Sayf("The request did not arrive: %s", human.SafeText(err)))
	}
	proof, err := c.proved(id, human.ClientProof{OK: true, Operation: op}, human.Sayf("The request arrived, and waits for your answer."))
	c.work.Go(func() {
		defer func() { _ = session.Close() }() // its program ends when its input does, and is killed where it does not
		ctx, cancel := context.WithTimeout(c.life, proofAnswered)
		defer cancel()
		text := human.Sayf("The request arrived; it was not answered within 10 minutes.")
		for ctx.Err() == nil {
			r, err := call(ctx, session, map[string]any{"action": "wait", "operation_id": string(op)})
			if err != nil {
				break
			}
			if r.Status != "pending" && r.Status != "waiting_input" {
				text = human.Sayf("The request arrived, and your answer went back the same way.")
				break
			}
		}
		if _, err := c.proved(id, human.ClientProof{OK: true, Operation: op}, text); err != nil {
			c.log.Warn("what became of a client's test could not be kept", "err", err)
		}
	})
	return proof, err
}

// A reply is what the tool human answers.
type reply struct {
	OperationID human.OperationID `json:"operation_id"`
	Status      string            `json:"status"`
}

func call(ctx context.Context, session *mcp.ClientSession, arguments map[string]any) (r reply, err error) {
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "human", Arguments: arguments})
	if err != nil {
		return r, err
	}
	text, err := json.Marshal(result.StructuredContent)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err == nil && r.OperationID == "" {
		err = human.Errorf(human.Unavailable, "the tool answered: %s", human.OneLine(string(text), 300))
	}
	return r, err
}

// ask starts the program that a client's settings start, as the client would, and sends a request through it.
func (c *clients) ask(ctx context.Context, name string, program []string) (*mcp.ClientSession, human.OperationID, error) {
	ctx, cancel := context.WithTimeout(ctx, proofArrives)
	defer cancel()
	cmd := exec.CommandContext(c.life, program[0], program[1:]...)
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !slices.Contains(ownVariables, name) {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Dir, cmd.WaitDelay = filepath.Dir(program[0]), time.Second
	client := mcp.NewClient(&mcp.Implementation{Name: "deskbell-test", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: time.Second}, nil)
	if err != nil {
		return nil, "", err
	}
	r, err := call(ctx, session, map[string]any{
		"action": "invoke", "action_type": "feedback", "wait_seconds": 0,
		"description": "Test: " + name + " reaches you. Any answer will do.",
		"details":     map[string]any{"question": "Deskbell sent this through the settings of " + name + ". Nothing happens with your answer.", "options": []string{"It works"}, "test": true},
	})
	if err != nil {
		return nil, "", errors.Join(err, session.Close())
	}
	return session, r.OperationID, nil
}

// proved keeps what became of a test.
func (c *clients) proved(id string, p human.ClientProof, text human.Sentence) (human.ClientProof, error) {
	p.At, p.Text, p.Said = time.Now().UTC(), text.Text, &text
	c.mu.Lock()
	defer c.mu.Unlock()
	proofs := c.proofs()
	proofs[id] = p
	return p, c.keep(proofs)
}

// proofs are those that are kept; what cannot be read counts as none. c.mu is held.
func (c *clients) proofs() map[string]human.ClientProof {
	out := map[string]human.ClientProof{}
	text, err := os.ReadFile(filepath.Join(c.dir, proofsFile))
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.log.Warn("what became of clients' tests cannot be read", "err", err)
	}
	if out == nil {
		out = map[string]human.ClientProof{}
	}
	return out
}

func (c *clients) keep(proofs map[string]human.ClientProof) error {
	text, err := json.Marshal(proofs)
	if err == nil {
		_, err = disk.Replace(filepath.Join(c.dir, proofsFile), bytes.NewReader(text), 0o600)
	}
	if err != nil {
		return human.Wrap(human.Unavailable, err, "what became of the test cannot be kept: %v", err)
	}
	return nil
}
