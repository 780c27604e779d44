package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentctl/protocol"
	"agentctl/server/agent/llm"
)

// maxResources bounds the resources of one list.
const maxResources = 200

// listResources is the tool that lists the resources of a server.
type listResources struct{ box *Toolbox }

// readResource is the tool that reads one.
type readResource struct{ box *Toolbox }

type resourceArguments struct {
	Server string `json:"server"`
	URI    string `json:"uri"`
}

// resourceInput checks the arguments of both tools.
func (b *Toolbox) resourceInput(c *llm.ToolCall, t llm.Tool) (in resourceArguments, of *connection, err error) {
	if err := c.Decode(t.Spec(), &in); err != nil {
		return in, nil, err
	}
	of, err = b.find(in.Server)
	return in, of, err
}

// Spec implements llm.Tool.
func (t *listResources) Spec() llm.ToolSpec {
	return llm.ToolSpec{
		Name: "list_resources", Kind: protocol.ToolFetch, Parallel: true,
		About: "Lists the resources of an MCP server by their URIs, at most 200.",
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["server"],"properties":` +
			`{"server":{"type":"string","description":"name of the MCP server"}}}`),
	}
}

// Preview implements llm.Tool.
func (t *listResources) Preview(_ context.Context, c *llm.ToolCall) (llm.Preview, error) {
	in, _, err := t.box.resourceInput(c, t)
	return resourcePreview("List resources of MCP server " + in.Server), err
}

// resourcePreview returns a preview: servers see each URI, so that calls are asked for.
func resourcePreview(title string) llm.Preview {
	return llm.Preview{Title: title, Request: protocol.Approval{Kind: protocol.ApproveTool}}
}

// Run implements llm.Tool.
func (t *listResources) Run(ctx context.Context, c *llm.ToolCall, out func(string)) (llm.ToolResult, error) {
	_, of, err := t.box.resourceInput(c, t)
	if err != nil {
		return llm.ToolResult{}, err
	}
	list := func(ctx context.Context, s *sdk.ClientSession, _ string) (r llm.ToolResult, err error) {
		var b strings.Builder
		n := 0
		params := &sdk.ListResourcesParams{}
		for page := 0; page == 0 || params.Cursor != "" && page < maxPages && n < maxResources; page++ {
			list, err := s.ListResources(ctx, params)
			if err != nil {
				return r, err
			}
			for _, x := range list.Resources {
				if x == nil || n >= maxResources {
					continue
				}
				n++
				fmt.Fprintf(&b, "%s %s %s %s\n", x.URI, x.Name, x.MIMEType, cut(x.Description, 200))
			}
			params.Cursor = list.NextCursor
		}
		templates, err := s.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{})
		if err == nil { // few servers have them
			for _, x := range templates.ResourceTemplates[:min(len(templates.ResourceTemplates), maxResources)] {
				fmt.Fprintf(&b, "template %s %s %s\n", x.URITemplate, x.Name, cut(x.Description, 200))
			}
		}
		if b.Len() == 0 {
			b.WriteString("[no resources]")
		}
		return llm.ToolResult{Text: t.box.shorten(b.String())}, nil
	}
	return run(ctx, of, caller{out: out}, list)
}

// Spec implements llm.Tool.
func (t *readResource) Spec() llm.ToolSpec {
	return llm.ToolSpec{
		Name: "read_resource", Kind: protocol.ToolFetch, Parallel: true,
		About: "Reads a resource of an MCP server by its URI.",
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["server","uri"],` +
			`"properties":{"server":{"type":"string","description":"name of the MCP server"},` +
			`"uri":{"type":"string","description":"as list_resources has it"}}}`),
	}
}

// Preview implements llm.Tool.
func (t *readResource) Preview(_ context.Context, c *llm.ToolCall) (llm.Preview, error) {
	in, _, err := t.box.resourceInput(c, t)
	if err == nil && in.URI == "" {
		err = errors.New("uri is missing")
	}
	return resourcePreview(fmt.Sprintf("Read %s of MCP server %s", in.URI, in.Server)), err
}

// Run implements llm.Tool.
func (t *readResource) Run(ctx context.Context, c *llm.ToolCall, out func(string)) (llm.ToolResult, error) {
	in, of, err := t.box.resourceInput(c, t)
	if err != nil {
		return llm.ToolResult{}, err
	}
	send := func(ctx context.Context, s *sdk.ClientSession, _ string) (*sdk.ReadResourceResult, error) {
		return s.ReadResource(ctx, &sdk.ReadResourceParams{URI: in.URI})
	}
	r, err := run(ctx, of, caller{out: out}, send)
	if err != nil {
		return llm.ToolResult{}, err
	}
	result := &sdk.CallToolResult{}
	for _, x := range r.Contents {
		result.Content = append(result.Content, &sdk.EmbeddedResource{Resource: x})
	}
	return t.box.result(result), nil
}
