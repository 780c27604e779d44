package pipeline

import (
	"context"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// An explainer is a pipeline whose agents explain their requests.
type explainer struct{ *Agent }

const explainPrompt = "Before the user decides about this plan, explain it briefly: why these tasks, what each will " +
	"change, and what could go wrong. Answer with text only, not with JSON. Do not call a tool."

// Explain implements agent.Explainer: the agent that asked explains. The planner explains its
// plan.
func (x explainer) Explain(ctx context.Context, request protocol.Approval) (string, error) {
	in := x.asker(&request)
	if in == nil {
		return "", protocol.Errorf(protocol.CodeUnsupported, "the agent that asked is not running")
	}
	if request.Kind == protocol.ApprovePlan && request.Task == "" {
		return in.prompt(ctx, protocol.Message{Text: explainPrompt}, false)
	}
	request.Request = strings.TrimPrefix(request.Request, in.prefix)
	request.Tool = strings.TrimPrefix(request.Tool, in.prefix)
	e, ok := in.agent.(agent.Explainer)
	if !ok {
		return "", protocol.Errorf(protocol.CodeUnsupported, "the %s does not explain", in.role)
	}
	return e.Explain(ctx, request)
}

// asker returns the running agent that a request is of, or nil.
func (a *Agent) asker(request *protocol.Approval) *inner {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, in := range a.inners {
		if in.task.ID == request.Task {
			return in
		}
	}
	return nil
}
