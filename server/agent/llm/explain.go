package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"agentctl/protocol"
	"agentctl/server/agent/llm/model"
)

const (
	pendingText = "The call has not run yet: the user has to allow it."
	explainText = "[Before the user decides about the call %s with the arguments %s, explain it: what it does, step " +
		"by step, why you want it, and what could go wrong. Answer with a short text only. Do not call a tool.]"
)

// callInput returns the arguments of the call that a request is for.
func (a *Agent) callInput(request protocol.Approval) json.RawMessage {
	if request.Input != nil {
		return request.Input
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state.Turn != nil {
		for _, c := range a.state.Turn.Calls {
			if c.Tool == request.Tool {
				return c.Call.Input
			}
		}
	}
	return json.RawMessage("{}")
}

// Explain asks the model about a call that waits for a decision, outside of the conversation.
func (a *Agent) Explain(ctx context.Context, request protocol.Approval) (string, error) {
	if sub := a.tasks.askedBy(&request); sub != nil {
		return sub.Explain(ctx, request)
	}
	backend, toolbox, err := a.open(ctx)
	if err != nil {
		return "", err
	}
	r := a.newRequest(backend, toolbox)
	a.mu.Lock()
	if t := a.state.Turn; t != nil && len(t.Calls) > 0 {
		r.Messages = model.Append(r.Messages, results(t.Calls, pendingText))
	}
	a.mu.Unlock()
	input := a.callInput(request)
	r.Messages = model.Append(r.Messages, model.Texts(model.User, fmt.Sprintf(explainText, request.Name, input)))
	// Calls are forbidden only after an answer without a text: with that, providers read the conversation again.
	var text string
	for _, r.NoCalls = range []bool{false, true} {
		response, err := a.requestAside(ctx, backend, r)
		if e, ok := errors.AsType[*model.Error](err); ok {
			return "", requestError(backend.Origin(), e)
		}
		if err != nil {
			return "", err
		}
		if text = response.Message.Text(); text != "" {
			break
		}
	}
	if text == "" {
		return "", protocol.Errorf(protocol.CodeAgentFailed, "the model gave no explanation")
	}
	return text, nil
}

// requestAside requests a response outside of the conversation. A failure of the provider is a model.Error.
func (a *Agent) requestAside(ctx context.Context, b *model.Backend, r *model.Request) (*model.Response, error) {
	if err := a.loadFiles(ctx, r); err != nil {
		return nil, err
	}
	response, err := b.Stream(ctx, r, func(model.Delta) error { return nil })
	switch {
	case err == nil:
		return response, a.update(a.host, func(s *state) { s.countUsage(response.Usage, b) })
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, model.AsError(err)
}
