package service_test

import (
	"encoding/json"
	"strings"
	"testing"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
)

// No part of a secret gets into the log, the title of a question or the rule that it offers, wherever a text is shortened.
func TestSecretsAreHiddenBeforeTextsAreCut(t *testing.T) {
	token := "ghp_" + "Zk3Jq8sVw2Lx9Tn4Rb7Yc1Md6Hf5Pg0QaUeX" // made up, and in two parts so that no scanner takes it for a real one
	password := "kX93!" + "mmQ2vv"
	// The texts that the engine makes are cut at 120, 160 and 200 bytes, a call at 500: a secret across each of these.
	pad := func(before string, at int) string { return before + strings.Repeat("x", at-len(before)-15) + " " }
	args := func(fields map[string]any) json.RawMessage {
		raw, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	calls := map[string]human.ToolCall{}
	for at, name := range map[int]string{120: "120", 160: "160", 200: "200", 500: "500"} {
		calls["an unknown command, "+name] = human.ToolCall{Tool: "Bash", Args: args(map[string]any{"command": pad("frobnicate ", at) + token + " now"})}
		calls["code, "+name] = human.ToolCall{Tool: "Bash", Args: args(map[string]any{"command": "python3 -c 'import os; os.system(\"" + pad("frobnicate ", at) + token + "\")'"})}
		calls["a query, "+name] = human.ToolCall{Tool: "execute_sql", Args: args(map[string]any{"sql": pad("DELETE FROM t WHERE a = '", at) + token + "'"})}
		calls["an address, "+name] = human.ToolCall{Tool: "http_request", Args: args(map[string]any{"method": "POST", "url": pad("https://example.com/", at-1)[:at-15] + token})}
		calls["a file, "+name] = human.ToolCall{Tool: "delete_file", Args: args(map[string]any{"path": pad("/var/lib/", at) + token})}
		calls["a tool of a server, "+name] = human.ToolCall{Tool: "mcp__x__delete_thing", Args: args(map[string]any{"id": pad("", at) + token})}
	}
	calls["a name that says so"] = human.ToolCall{Tool: "mcp__x__delete_thing", Args: args(map[string]any{"password": password, "why": "it is " + password})}
	calls["a list"] = human.ToolCall{Tool: "shell", Args: args(map[string]any{"command": []string{"frobnicate", "--password", password}})}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			p := open(t, nil)
			call.Cwd, call.SessionID = p.project, "s1"
			j, err := p.Evaluate(t.Context(), bot, call, service.Asking{})
			if err != nil {
				t.Fatal(err)
			}
			page, err := p.Log(t.Context(), ada, service.LogFilter{})
			if err != nil {
				t.Fatal(err)
			}
			texts := map[string]any{"the log": page}
			if j.OperationID != "" {
				op, err := p.queue.Get(t.Context(), ada, j.OperationID)
				if err != nil {
					t.Fatal(err)
				}
				view, err := p.Question(t.Context(), ada, op.ID)
				if err != nil {
					t.Fatal(err)
				}
				texts["the title"], texts["the rule"] = op.Description, view.Standing
			}
			for what, v := range texts {
				text, err := json.Marshal(v)
				if err != nil {
					t.Fatal(err)
				}
				for _, part := range []string{token[:6], password[:5]} {
					if strings.Contains(string(text), part) {
						t.Errorf("%s: %s", what, text)
					}
				}
			}
		})
	}
}
