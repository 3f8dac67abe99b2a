// Command assistants has the tools of three agents, navigation, music and car, as MCP servers on standard input and output. What they
// do is written into a file in the folder that they run in, assistants.json, so that one can look at it:
//
//	deskbell agent chat --agents docs/examples/agents/agents.toml --agent music
//
// The agents are declared in docs/examples/agents/agents.toml. In place of the file, a real one would call a map, a player or a car.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const file = "assistants.json"

// An act is what a tool did.
type act struct {
	At   time.Time      `json:"at"`
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"`
}

type place struct {
	Query string `json:"query" jsonschema:"the destination, as its user says it"`
}

type song struct {
	Song   string `json:"song" jsonschema:"the title of the song"`
	Artist string `json:"artist,omitempty" jsonschema:"who sings it"`
}

type window struct {
	Window string `json:"window" jsonschema:"which window: driver, passenger, rear_left or rear_right"`
	Action string `json:"action" jsonschema:"open or close"`
}

func main() {
	if len(os.Args) != 2 {
		fail(errors.New("say which tools: navigation, music or car"))
	}
	server := mcp.NewServer(&mcp.Implementation{Name: os.Args[1], Version: "1.0.0"}, nil)
	switch os.Args[1] {
	case "navigation":
		mcp.AddTool(server, &mcp.Tool{Name: "search_location", Description: "Find a place and start navigating to it."},
			func(_ context.Context, _ *mcp.CallToolRequest, in place) (*mcp.CallToolResult, any, error) {
				return done("search_location", map[string]any{"query": in.Query}, "Navigating to "+in.Query+".")
			})
	case "music":
		mcp.AddTool(server, &mcp.Tool{Name: "play_music", Description: "Play a song."},
			func(_ context.Context, _ *mcp.CallToolRequest, in song) (*mcp.CallToolResult, any, error) {
				return done("play_music", map[string]any{"song": in.Song, "artist": in.Artist}, strings.TrimSpace("Playing "+in.Song+" "+in.Artist)+".")
			})
	case "car":
		mcp.AddTool(server, &mcp.Tool{Name: "control_window", Description: "Open or close a window of the car."},
			func(_ context.Context, _ *mcp.CallToolRequest, in window) (*mcp.CallToolResult, any, error) {
				if !slices.Contains([]string{"driver", "passenger", "rear_left", "rear_right"}, in.Window) || in.Action != "open" && in.Action != "close" {
					return nil, nil, fmt.Errorf("there is no window %q that could %q", in.Window, in.Action)
				}
				return done("control_window", map[string]any{"window": in.Window, "action": in.Action}, "The window "+in.Window+": "+in.Action+".")
			})
	default:
		fail(fmt.Errorf("there are no tools %q: navigation, music or car", os.Args[1]))
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fail(err)
	}
}

// done writes down what a tool did, and says so.
func done(tool string, args map[string]any, says string) (*mcp.CallToolResult, any, error) {
	var all []act
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	text, err = json.MarshalIndent(append(all, act{time.Now(), tool, args}), "", "  ")
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: says}}}, nil, err
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "assistants:", err)
	os.Exit(1)
}
