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

// call returns the preview of a tool as the server has it. The server checks the arguments. Users see the full
// input. A trusted tool runs without asking.
func (c *connection) call(name string, trusted bool) func(context.Context, *llm.ToolCall) (llm.Preview, error) {
	return func(_ context.Context, call *llm.ToolCall) (llm.Preview, error) {
		p := asked(fmt.Sprintf("%s of MCP server %s", cut(name, 200), c.server.Name))
		p.Safe = trusted
		p.Run = func(ctx context.Context, out func(string)) (llm.ToolResult, error) {
			by := caller{out: out, tool: toolName(c.server.Name, name), ask: call.Asking}
			// A call is sent once: after a failure it is not known whether it ran.
			r, err := run(ctx, c, by, func(
				ctx context.Context, s *sdk.ClientSession, token string,
			) (*sdk.CallToolResult, error) {
				p := &sdk.CallToolParams{Name: name, Arguments: call.Input}
				p.SetProgressToken(token)
				return s.CallTool(ctx, p)
			})
			if err != nil {
				return llm.ToolResult{}, err
			}
			return c.box.result(r), nil
		}
		return p, nil
	}
}

// asked returns the preview of a call that users are asked for.
func asked(title string) llm.Preview {
	return llm.Preview{Title: title, Request: protocol.Approval{Kind: protocol.ApproveTool}}
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
