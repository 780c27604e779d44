package mcp

import (
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentctl/protocol"
)

// Actions of the answer to a server that asks users.
const (
	accepted = "accept"
	declined = "decline" // users did not answer, or the server may not ask so
	canceled = "cancel"  // the call ended
)

// maxTries bounds the repetitions of a question after an invalid answer.
const maxTries = 3

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
	f, err := newForm(r.Params)
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
	problem := ""
	for range maxTries {
		answer, err := call.ask(ctx, f.request(c.server.Name, call.tool, problem))
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
		var content map[string]any
		switch content, problem = f.content(answers); {
		case problem != "":
		case content == nil:
			return &sdk.ElicitResult{Action: declined}, nil
		default:
			return &sdk.ElicitResult{Action: accepted, Content: content}, nil
		}
	}
	return &sdk.ElicitResult{Action: canceled}, nil
}

// request returns the form as a request to users. problem is the reason for asking again.
func (f *form) request(server, tool, problem string) protocol.Approval {
	message := cut(strings.TrimSpace(f.message), maxMessage)
	line, rest, _ := strings.Cut(message, "\n")
	a := protocol.Approval{
		Kind: protocol.ApproveQuestion, Name: tool, Title: "MCP server " + server + " asks: " + cut(line, 200),
	}
	if rest != "" || len(line) > 200 {
		a.Why = message
	}
	if problem != "" {
		a.Why = strings.TrimSpace("The last answer does not fit: " + problem + "\n" + a.Why)
	}
	for i := range f.fields {
		a.Questions = append(a.Questions, f.fields[i].question())
	}
	return a
}
