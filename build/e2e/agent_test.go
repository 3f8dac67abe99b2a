//go:build window

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The test's own program is the agent too: a process of its own that knows nothing but MCP. These variables say
// what it asks, and under which name.
const (
	agentCall = "E2E_AGENT_CALL"
	agentName = "E2E_AGENT_NAME"
)

// A reply is what the tool tells an agent.
type reply struct {
	OperationID string `json:"operation_id"`
	Status      string `json:"status"`
	Decision    string `json:"decision"`
	HumanInput  string `json:"human_input"`
	Reason      string `json:"reason"`
	Question    string `json:"question"`
}

// runAgent rings through `deskbell mcp`, waits until the human has answered, and prints the answer.
func runAgent() int {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	var call map[string]any
	if err := json.Unmarshal([]byte(os.Getenv(agentCall)), &call); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	server := exec.Command(os.Getenv("DESKBELL_BIN"), "mcp", "--agent", os.Getenv(agentName))
	server.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: os.Getenv(agentName), Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer session.Close()
	for {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "human", Arguments: call})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		text, err := json.Marshal(result.StructuredContent)
		var r reply
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if r.Status == "pending" {
			call = map[string]any{"action": "wait", "operation_id": r.OperationID}
			continue
		}
		fmt.Println(string(text))
		return 0
	}
}
