package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentctl/protocol"
	"agentctl/server/agent/llm"
)

// maxResources bounds the resources of one list.
const maxResources = 200

type listArguments struct {
	Server string `json:"server" about:"name of the MCP server"`
}

type readArguments struct {
	Server string `json:"server" about:"name of the MCP server"`
	URI    string `json:"uri" about:"as list_resources has it"`
}

// resourceTools returns the tools that list and read the resources of servers. Servers see each URI, so that users
// are asked for calls.
func (b *Toolbox) resourceTools() []llm.Tool {
	list := llm.Tool{
		Name: "list_resources", Kind: protocol.ToolFetch, Parallel: true,
		About: fmt.Sprintf("Lists the resources of an MCP server by their URIs, at most %d.", maxResources),
	}
	read := llm.Tool{
		Name: "read_resource", Kind: protocol.ToolFetch, Parallel: true,
		About: "Reads a resource of an MCP server by its URI.",
	}
	return []llm.Tool{llm.NewTool(list, b.checkList), llm.NewTool(read, b.checkRead)}
}

func (b *Toolbox) checkList(_ context.Context, _ *llm.ToolCall, in listArguments) (llm.Preview, error) {
	c, err := b.find(in.Server)
	if err != nil {
		return llm.Preview{}, err
	}
	p := asked("List resources of MCP server " + in.Server)
	p.Run = func(ctx context.Context, out func(string)) (llm.ToolResult, error) {
		text, err := run(ctx, c, caller{out: out}, listResources)
		return llm.ToolResult{Text: b.shorten(text)}, err
	}
	return p, nil
}

// listResources returns the resources of a server and their templates, one a line.
func listResources(ctx context.Context, s *sdk.ClientSession, _ string) (string, error) {
	var b strings.Builder
	n := 0
	for x, err := range s.Resources(ctx, nil) {
		if err != nil {
			return "", err
		}
		if x == nil {
			continue
		}
		fmt.Fprintf(&b, "%s %s %s %s\n", x.URI, x.Name, x.MIMEType, cut(x.Description, 200))
		if n++; n == maxResources {
			break
		}
	}
	templates, err := s.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{})
	if err == nil { // few servers have them
		for _, x := range templates.ResourceTemplates[:min(len(templates.ResourceTemplates), maxResources)] {
			if x != nil {
				fmt.Fprintf(&b, "template %s %s %s\n", x.URITemplate, x.Name, cut(x.Description, 200))
			}
		}
	}
	if b.Len() == 0 {
		return "[no resources]", nil
	}
	return b.String(), nil
}

func (b *Toolbox) checkRead(_ context.Context, _ *llm.ToolCall, in readArguments) (llm.Preview, error) {
	c, err := b.find(in.Server)
	if err == nil && in.URI == "" {
		err = errors.New("uri is missing")
	}
	if err != nil {
		return llm.Preview{}, err
	}
	p := asked(fmt.Sprintf("Read %s of MCP server %s", in.URI, in.Server))
	p.Run = func(ctx context.Context, out func(string)) (llm.ToolResult, error) {
		r, err := c.readResource(ctx, in.URI, out)
		if err != nil {
			return llm.ToolResult{}, err
		}
		result := &sdk.CallToolResult{}
		for _, x := range r.Contents {
			result.Content = append(result.Content, &sdk.EmbeddedResource{Resource: x})
		}
		return b.result(result), nil
	}
	return p, nil
}

// readResource reads a resource.
func (c *connection) readResource(ctx context.Context, uri string, out func(string)) (*sdk.ReadResourceResult, error) {
	send := func(ctx context.Context, s *sdk.ClientSession, _ string) (*sdk.ReadResourceResult, error) {
		return s.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
	}
	return run(ctx, c, caller{out: out}, send)
}
