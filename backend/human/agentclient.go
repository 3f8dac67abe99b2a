package human

import (
	"strings"
	"time"
)

// RevokedAgent is the error of an agent whose keys were all revoked, and who asks for another.
func RevokedAgent(name string) *Error {
	return Errorf(Unauthorized, "an operator revoked %s; an operator lets it in again: connect it on the page Agents, or run: deskbell keys add %s", name, name)
}

// ClientState says how far a program that runs agents is connected to Deskbell.
type ClientState string

// The states.
const (
	ClientAbsent    ClientState = "absent"    // it is not on this machine
	ClientReady     ClientState = "ready"     // it is here, and nothing of Deskbell is in its settings
	ClientConnected ClientState = "connected" // its settings are as connecting writes them
	ClientChanged   ClientState = "changed"   // some of Deskbell is in its settings, and not all as connecting writes it
	ClientTrouble   ClientState = "trouble"   // its settings cannot be read or changed; Problem says why
)

// An AgentClient is a program that runs agents, such as Claude Code, and how it is connected.
type AgentClient struct {
	ID      string      `json:"id" doc:"Its name for the command line; its agents' agent_id."`
	Name    string      `json:"name" doc:"As its maker writes it."`
	Found   bool        `json:"found" doc:"It is on this machine."`
	Version string      `json:"version,omitempty" doc:"Where that can be seen without starting it."`
	Program string      `json:"program,omitempty" doc:"The path of its program, where that was found."`
	State   ClientState `json:"state" enum:"absent,ready,connected,changed,trouble"`
	Problem string      `json:"problem,omitempty" doc:"What is wrong, in a sentence."`
	Next    string      `json:"next,omitempty" doc:"What its user has to do in it."`

	SaidProblem *Sentence `json:"problem_said,omitempty" doc:"Problem, for other languages."`
	SaidNext    *Sentence `json:"next_said,omitempty" doc:"Next, for other languages."`

	Gives   ClientGives    `json:"gives"`
	Changes []ClientChange `json:"changes" doc:"What connecting would write now; empty when it is connected."`
	Written []ClientChange `json:"written,omitempty" doc:"What connecting wrote and Undo takes out, while it is connected."`
	Hash    string         `json:"hash" doc:"Of exactly these changes."`
	Undo    bool           `json:"undo" doc:"There is something of Deskbell in its settings to take out."`
	Revoked bool           `json:"revoked,omitempty" doc:"Its settings are as connecting writes them, but its keys were revoked: connecting it makes another."`
	Key     string         `json:"key,omitempty" doc:"The agent whose key it has; empty before it is connected."`
	Proof   *ClientProof   `json:"proof,omitempty" doc:"The last request that was sent through its settings."`
}

// ClientGives is what connecting gives a client; false where the client does not offer it.
type ClientGives struct {
	Tools      bool `json:"tools" doc:"Its agents can ask."`
	Hook       bool `json:"hook" doc:"The gatekeeper is in front of its tools."`
	Permission bool `json:"permission" doc:"It calls Deskbell's tools without asking by itself first."`
}

// A ClientChange is a change of one settings file.
type ClientChange struct {
	File string   `json:"file"`
	What []string `json:"what" doc:"What is written there: server, permission, hook; file, where all of it is Deskbell's." enum:"server,permission,hook,file"`
	Diff string   `json:"diff" doc:"A unified diff."`
}

// A ClientProof is a request that was sent through a client's own settings.
type ClientProof struct {
	At        time.Time   `json:"at"`
	OK        bool        `json:"ok" doc:"It arrived."`
	Text      string      `json:"text" doc:"What became of it, in a sentence."`
	Said      *Sentence   `json:"text_said,omitempty" doc:"Text, for other languages."`
	Operation OperationID `json:"operation_id,omitempty"`
}

// NoClient is the error for a client that is not known, of those that are.
func NoClient(id string, known []string) error {
	if near := Nearest(id, known); near != "" {
		return Errorf(NotFound, "there is no client %s; did you mean %s?", OneLine(id, 60), near)
	}
	return Errorf(NotFound, "there is no client %s; there are: %s", OneLine(id, 60), strings.Join(known, ", "))
}
