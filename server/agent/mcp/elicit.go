package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentctl/protocol"
	"agentctl/server/agent/form"
)

// Actions of the answer to a server that asks users.
const (
	accepted = "accept"
	declined = "decline" // users did not answer, or the server may not ask so
	canceled = "cancel"  // the call ended
)

// callKey is the key of an openCall in the context of its requests.
type callKey struct{}

// elicit asks users what a server wants to know, as a question of the call that the server works
// on. Older servers do not name the call: then it is the oldest.
func (c *connection) elicit(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	call, ok := ctx.Value(callKey{}).(*openCall)
	if !ok {
		call = c.calls.oldest()
	}
	if call == nil || call.ask == nil {
		c.box.options.Host.Logf("MCP server %s asks users without a call of a tool: declined", c.server.Name)
		return &sdk.ElicitResult{Action: declined}, nil
	}
	f, err := readForm(r.Params)
	if err != nil {
		c.box.notice("MCP server %s asks what agentctl cannot ask users: %v", c.server.Name, err)
		return &sdk.ElicitResult{Action: declined}, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer call.pause()()
	go func() {
		select {
		case <-call.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	answer, err := call.ask(ctx, formRequest(f, r.Params.Message, c.server.Name, call.tool))
	switch {
	case err != nil:
		call.fail(err)
		return &sdk.ElicitResult{Action: canceled}, nil
	case answer.Denied != "":
		return &sdk.ElicitResult{Action: declined}, nil
	}
	var answers map[string][]string
	if answer.Input != nil {
		answers = answer.Input.Answers
	}
	content, err := f.Content(answers)
	if err != nil { // the session checks answers
		c.box.options.Host.Logf("MCP server %s gets no answer: %v", c.server.Name, err)
		return &sdk.ElicitResult{Action: canceled}, nil
	}
	return &sdk.ElicitResult{Action: accepted, Content: content}, nil
}

// readForm reads what a server asks.
func readForm(p *sdk.ElicitParams) (*form.Form, error) {
	if p.Mode == "url" || p.URL != "" {
		return nil, errors.New("it wants a page to be opened")
	}
	if len(p.Message) > form.MaxMessage {
		return nil, errors.New("its message is too long")
	}
	schema, err := json.Marshal(p.RequestedSchema)
	if err != nil {
		return nil, fmt.Errorf("read its form: %w", err)
	}
	f, err := form.Parse(schema, nil)
	if err == nil {
		f.RequiredFirst() // the SDK has lost the order
	}
	return f, err //nolint:wrapcheck // for users
}

// formRequest returns a form as a request to users.
func formRequest(f *form.Form, message, server, tool string) protocol.Approval {
	message = strings.TrimSpace(message)
	line, rest, _ := strings.Cut(message, "\n")
	a := protocol.Approval{
		Kind: protocol.ApproveQuestion, Name: tool, Title: "MCP server " + server + " asks: " + cut(line, 200),
		Why: f.About, Questions: f.Questions(),
	}
	if rest != "" || len(line) > 200 {
		a.Why = strings.TrimSpace(message + "\n" + f.About)
	}
	return a
}
