package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// runMCPClient is an MCP client of "agentctl mcp": mcp-client TOOL JSON. It prints the result, or
// the names of the tools, and reports of progress to stderr. It exits 1 if the call fails.
func runMCPClient() int {
	if err := callMCPTool(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func callMCPTool(args []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := sdk.NewClient(&sdk.Implementation{Name: "tester"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			fmt.Fprintf(os.Stderr, "progress: %s of %g\n", r.Params.Message, r.Params.Total)
		},
	})
	server := exec.Command("agentctl", "mcp")
	server.Stderr = os.Stderr
	s, err := client.Connect(ctx, &sdk.CommandTransport{Command: server}, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	if len(args) == 0 {
		for tool, err := range s.Tools(ctx, nil) {
			if err != nil {
				return err
			}
			fmt.Println(tool.Name, "reads:", tool.Annotations.ReadOnlyHint)
		}
		return nil
	}
	params := &sdk.CallToolParams{Name: args[0], Arguments: json.RawMessage(args[1])}
	params.SetProgressToken("p")
	r, err := s.CallTool(ctx, params)
	if err != nil {
		return err
	}
	for _, c := range r.Content {
		text, ok := c.(*sdk.TextContent)
		if !ok {
			return fmt.Errorf("content %T", c)
		}
		fmt.Println(text.Text)
	}
	if r.IsError {
		return fmt.Errorf("the call of %s failed", args[0])
	}
	return nil
}
