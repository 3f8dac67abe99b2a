package client

import "time"

// callPatience is how long a call may take where nothing is known of its client: the official SDK for TypeScript gives up after
// 60 s, and a note of progress changes that only where its user asks for it.
const callPatience = 45 * time.Second

// restarting are MCP clients, by the name they give, whose clock begins again with each note of progress: read in their sources
// and in reports to their makers, November 2026.
var restarting = map[string]bool{"claude-code": true, "opencode": true}

// CallPatience is how long a call of an MCP client may take before the client gives up, by the client's name and whether it takes
// progress in the call; negative where it does not give up as long as it gets progress.
func CallPatience(name string, progress bool) time.Duration {
	if progress && restarting[name] {
		return -1
	}
	return callPatience
}
