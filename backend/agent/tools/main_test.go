package tools_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"deskbell/backend/agent"
)

// asServer makes the test's own binary behave as an MCP server on standard input and output.
const asServer = "TOOLS_TEST_AS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		if err := mcpServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

type addition struct {
	A int `json:"a" jsonschema:"one number"`
	B int `json:"b" jsonschema:"the other"`
}

// mcpServer is a server with a few tools.
func mcpServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sums", Version: "1"}, nil)
	no := false
	mcp.AddTool(s, &mcp.Tool{Name: "add", Description: "Adds.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &no}},
		func(_ context.Context, _ *mcp.CallToolRequest, in addition) (*mcp.CallToolResult, any, error) {
			text, err := json.Marshal(in.A + in.B)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}, &mcp.ImageContent{MIMEType: "image/png", Data: []byte("12345")}}}, nil, err
		})
	mcp.AddTool(s, &mcp.Tool{Name: "files.drop", Annotations: &mcp.ToolAnnotations{}},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "there is nothing to drop"}}}, nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "key"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "key:" + os.Getenv("DESKBELL_KEY")}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "die"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		os.Exit(3)
		return nil, nil, nil
	})
	return s
}

// call runs a tool with arguments.
func call(t *testing.T, tool agent.Tool, args any) agent.Output {
	t.Helper()
	out, err := tool.Run(t.Context(), object(t, args))
	if err != nil {
		t.Fatalf("%s: %v", tool.Spec().Name, err)
	}
	return out
}

func object(t *testing.T, args any) json.RawMessage {
	t.Helper()
	if text, is := args.(string); is {
		return json.RawMessage(text)
	}
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

type with map[string]any
