package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"deskbell/backend/human"
	"deskbell/backend/queue/outbox"
	"deskbell/backend/transport/mcp"
)

func TestAnAgentReadsWhatCameOfItsRequests(t *testing.T) {
	for _, version := range []string{legacy, modern} {
		q := open(t)
		c := inMemory(t, mcp.ForQueue(q, nil, bot), mcp.Options{Knowledge: true}, version)
		stranger := inMemory(t, mcp.ForQueue(q, nil, other), mcp.Options{Knowledge: true}, version)
		var ids []human.OperationID
		for _, words := range []string{"Which color for the harbour?", "Which font?"} {
			r := c.use(ask(words).with(args{"wait_seconds": 0}))
			answer(t, q, r.OperationID, human.Answer{HumanInput: "teal", KeyFindings: []string{"It is by the sea"}})
			ids = append(ids, r.OperationID)
		}
		waiting := c.use(ask("Still open?").with(args{"wait_seconds": 0})).OperationID
		list, err := c.ListResources(t.Context(), nil)
		if err != nil || len(list.Resources) != 2 || list.Resources[0].Name != "human_operation_"+string(ids[1]) || !strings.Contains(list.Resources[0].Description, "teal") {
			t.Fatalf("%+v %v", list, err)
		}
		read := func(c *client, uri string) (string, error) {
			r, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
			if err != nil {
				return "", err
			}
			return r.Contents[0].Text, nil
		}
		text, err := read(c, list.Resources[1].URI)
		var d outbox.Document
		if err != nil || json.Unmarshal([]byte(text), &d) != nil || d.Category != "human_actions" || d.Result == nil || d.Result.KeyFindings[0] != "It is by the sea" {
			t.Errorf("%s %v", text, err)
		}
		for query, want := range map[string]int{"harbour": 1, "which": 2, "sea%20teal": 2, "nothing-such": 0, "": 2} {
			text, err := read(c, "deskbell://human_actions?q="+query)
			if err != nil || strings.Count(text, `"uri"`) != want {
				t.Errorf("%q finds %s, %v; want %d", query, text, err, want)
			}
		}
		// Another agent's, one that is open, and what is none.
		for _, uri := range []string{"deskbell://human_actions/human_operation_" + string(waiting), "deskbell://human_actions/human_operation_op_1", "deskbell://human_actions/x"} {
			if text, err := read(c, uri); err == nil {
				t.Errorf("%s is %s", uri, text)
			}
		}
		if text, err := read(stranger, list.Resources[0].URI); err == nil {
			t.Errorf("a stranger reads %s", text)
		}
		if list, err := stranger.ListResources(t.Context(), nil); err != nil || len(list.Resources) != 0 {
			t.Errorf("a stranger sees %+v, %v", list, err)
		}
	}
}

func TestWithoutKnowledgeThereAreNoResources(t *testing.T) {
	c := inMemory(t, mcp.ForQueue(open(t), nil, bot), mcp.Options{}, legacy)
	if c.InitializeResult().Capabilities.Resources != nil {
		t.Error("it offers resources")
	}
}
