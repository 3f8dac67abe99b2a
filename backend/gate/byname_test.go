package gate

import (
	"strings"
	"testing"

	"deskbell/backend/human"
)

// P4: high where a task writes files, runs a shell or a system command.
func TestByName(t *testing.T) {
	for risk, tools := range map[human.Risk][]string{
		human.HighRisk:   {"bash", "file_write", "write_file", "system_command", "mcp__files__write_file", "python", "vault_write", "run_tests", "deletePod", "execute_sql"},
		human.LowRisk:    {"read_file", "grep", "web_search", "list_pods", "get-weather", "search_location"},
		human.MediumRisk: {"pg_dump", "", "x", "navigate", "http_request", strings.Repeat("write_", 100)},
	} {
		for _, tool := range tools {
			if got := ByName(tool); got != risk {
				t.Errorf("%q is %s, want %s", tool, got, risk)
			}
		}
	}
}
