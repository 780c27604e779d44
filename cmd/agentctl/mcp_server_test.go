package main

import (
	"context"
	"os"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// runMCPServer is an MCP server on standard input and output, with a tool and a prompt.
func runMCPServer() {
	s := sdk.NewServer(&sdk.Implementation{Name: "fake-mcp"}, nil)
	type text struct {
		Text string `json:"text"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "echo"},
		func(_ context.Context, _ *sdk.CallToolRequest, in text) (*sdk.CallToolResult, any, error) {
			answer := in.Text + " " + os.Getenv("MARK")
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: answer}}}, nil, nil
		})
	s.AddPrompt(&sdk.Prompt{Name: "greet", Arguments: []*sdk.PromptArgument{{Name: "whom", Required: true}}},
		func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			message := &sdk.PromptMessage{
				Role: "user", Content: &sdk.TextContent{Text: "greet " + r.Params.Arguments["whom"]},
			}
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{message}}, nil
		})
	if err := s.Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}
