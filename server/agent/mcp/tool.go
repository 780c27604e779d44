package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentctl/protocol"
	"agentctl/server/agent/llm"
)

// A tool is a tool of a server.
type tool struct {
	connection *connection
	name       string // as the server has it
	spec       llm.ToolSpec
	trusted    bool // calls run without asking
}

// Spec implements llm.Tool.
func (t *tool) Spec() llm.ToolSpec { return t.spec }

// Preview implements llm.Tool. The server checks the arguments. Users see the full input.
func (t *tool) Preview(context.Context, *llm.ToolCall) (llm.Preview, error) {
	title := fmt.Sprintf("%s of MCP server %s", cut(t.name, 200), t.connection.server.Name)
	return llm.Preview{Title: title, Safe: t.trusted, Request: protocol.Approval{Kind: protocol.ApproveTool}}, nil
}

// Run implements llm.Tool. A call is sent once: after a failure it is not known whether it ran.
func (t *tool) Run(ctx context.Context, c *llm.ToolCall, out func(string)) (llm.ToolResult, error) {
	send := func(ctx context.Context, s *sdk.ClientSession, token string) (*sdk.CallToolResult, error) {
		p := &sdk.CallToolParams{Name: t.name, Arguments: c.Input}
		p.SetProgressToken(token)
		return s.CallTool(ctx, p)
	}
	r, err := run(ctx, t.connection, caller{out: out, tool: t.spec.Name, ask: c.Asking}, send)
	if err != nil {
		return llm.ToolResult{}, err
	}
	return t.connection.box.result(r), nil
}

// maxName is the length of a name that all providers take.
const maxName = 64

// toolName returns the name of a tool for the model: mcp__SERVER__TOOL, with only the characters
// that providers take. A name that had to be changed or cut ends with a hash of the full one.
func toolName(server, tool string) string {
	full := "mcp__" + server + "__" + tool
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, full)
	if name == full && len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(full))
	hash := "_" + hex.EncodeToString(sum[:4])
	return name[:min(len(name), maxName-len(hash))] + hash
}
