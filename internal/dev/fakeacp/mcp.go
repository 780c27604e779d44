package fakeacp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// callMCP starts an MCP server of the session, calls a tool and returns the texts of its result.
// call is the name of the server, the name of the tool and the arguments.
func callMCP(servers json.RawMessage, call string) (string, error) {
	var list []struct {
		Name, Command string
		Args          []string
		Env           []struct{ Name, Value string }
	}
	if err := json.Unmarshal(servers, &list); err != nil {
		return "", err
	}
	name, rest, _ := strings.Cut(call, " ")
	tool, input, _ := strings.Cut(rest, " ")
	for _, s := range list {
		if s.Name != name {
			continue
		}
		ctx := context.Background()
		cmd := exec.CommandContext(ctx, s.Command, s.Args...)
		cmd.Env = os.Environ()
		for _, v := range s.Env {
			cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
		}
		client := sdk.NewClient(&sdk.Implementation{Name: "fakeacp", Version: "1"}, nil)
		session, err := client.Connect(ctx, &sdk.CommandTransport{Command: cmd}, nil)
		if err != nil {
			return "", err
		}
		defer func() { _ = session.Close() }()
		r, err := session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(input)})
		if err != nil {
			return "", err
		}
		var texts []string
		for _, c := range r.Content {
			if t, ok := c.(*sdk.TextContent); ok {
				texts = append(texts, t.Text)
			}
		}
		return strings.Join(texts, "\n"), nil
	}
	return "", fmt.Errorf("no MCP server %s", name)
}
