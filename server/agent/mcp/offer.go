package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentctl/protocol"
	"agentctl/server/agent/llm"
)

// An offer holds a server's tools, prompts and resources, bounded.
type offer struct {
	tools     []llm.Tool
	prompts   []*prompt
	resources bool
	named     []protocol.Resource // that users can mention
	leftOut   string              // for users; empty: nothing
}

// list reads the server's offer.
func (c *connection) list(ctx context.Context, s *sdk.ClientSession) (o offer, err error) {
	r := s.InitializeResult()
	if r == nil || r.Capabilities == nil {
		return o, nil
	}
	var problems []string
	if r.Capabilities.Tools != nil {
		if problems, err = c.listTools(ctx, s, &o); err != nil {
			return o, fmt.Errorf("list tools: %w", err)
		}
	}
	if r.Capabilities.Prompts != nil {
		more, err := c.listPrompts(ctx, s, &o)
		if err != nil {
			return o, fmt.Errorf("list prompts: %w", err)
		}
		problems = append(problems, more...)
	}
	if o.resources = r.Capabilities.Resources != nil; o.resources {
		o.named = c.listNamed(ctx, s)
	}
	o.leftOut = strings.Join(problems, "; ")
	return o, nil
}

// listTools reads the tools. A name that is taken belongs to the first.
func (c *connection) listTools(ctx context.Context, s *sdk.ClientSession, o *offer) (problems []string, err error) {
	var bad []string
	for of, err := range s.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		if of == nil {
			continue
		}
		if len(o.tools) == maxTools || len(bad) == maxBad {
			problems = append(problems, fmt.Sprintf("all tools after the first %d", len(o.tools)))
			break
		}
		t, err := c.newTool(of)
		if err == nil && slices.ContainsFunc(o.tools, func(x llm.Tool) bool { return x.Name == t.Name }) {
			err = errors.New("its name is taken")
		}
		if err != nil {
			bad = append(bad, fmt.Sprintf("tool %.80s (%v)", protocol.ValidText(of.Name), err))
			continue
		}
		o.tools = append(o.tools, t)
	}
	if n := len(bad); n > 5 {
		bad = append(bad[:5], fmt.Sprintf("%d more tools", n-5))
	}
	return append(problems, bad...), nil
}

// newTool checks a tool of the server.
func (c *connection) newTool(of *sdk.Tool) (t llm.Tool, err error) {
	if of.Name == "" {
		return t, errors.New("it has no name")
	}
	input, ok := of.InputSchema.(map[string]any)
	if !ok {
		return t, errors.New("its input schema is not an object")
	}
	if input["type"] == nil {
		input["type"] = "object"
	}
	if input["type"] == "object" && input["properties"] == nil {
		input["properties"] = map[string]any{} // providers want it
	}
	schema, err := json.Marshal(input)
	switch {
	case err != nil:
		return t, err
	case input["type"] != "object":
		return t, errors.New("its input is not an object")
	case len(schema) > maxSchema:
		return t, fmt.Errorf("its input schema is larger than %d KiB", maxSchema>>10)
	}
	t = llm.Tool{
		Name: toolName(c.server.Name, of.Name), Kind: protocol.ToolOther, Schema: schema,
		About: cut(of.Description, maxAbout),
	}
	trusted := of.Annotations != nil && of.Annotations.ReadOnlyHint && c.server.TrustReadOnly
	if trusted {
		t.Kind, t.Parallel = protocol.ToolRead, true
	}
	t.Preview = c.call(of.Name, trusted)
	return t, nil
}

// listPrompts reads the prompts.
func (c *connection) listPrompts(ctx context.Context, s *sdk.ClientSession, o *offer) (problems []string, err error) {
	for of, err := range s.Prompts(ctx, nil) {
		switch {
		case err != nil:
			return nil, err
		case of == nil || of.Name == "":
		case len(o.prompts) == maxPrompts || len(of.Arguments) > maxArguments:
			return []string{fmt.Sprintf("all prompts after the first %d", len(o.prompts))}, nil
		default:
			o.prompts = append(o.prompts, newPrompt(c, of))
		}
	}
	return nil, nil
}
