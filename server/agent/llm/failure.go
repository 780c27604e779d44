package llm

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent/llm/model"
)

// openError returns the error of an agent whose model cannot be opened.
func openError(name string, err error) error {
	var e *model.Error
	if errors.As(err, &e) && e.Class == model.Auth {
		return protocol.Errorf(protocol.CodeAgentAuth, "%s", e.Message)
	}
	return protocol.Errorf(protocol.CodeNoAgent, "%s: %v", name, err)
}

// requestError returns the error that ends a turn, with a hint for the user.
func requestError(name string, e *model.Error) error {
	code, advice := protocol.CodeAgentFailed, "send the message again later"
	switch e.Class {
	case model.Auth:
		code, advice = protocol.CodeAgentAuth, "check the key of the provider and what it may use"
	case model.Quota:
		advice = "add credit at the provider, or choose another model"
	case model.Context:
		advice = "the conversation no longer fits the context of the model: compact it, choose a model with more " +
			"context, or start a new session"
	case model.NoModel:
		advice = "check the name of the model and base_url"
	case model.Invalid:
		advice = "the provider refuses the request: check the model and its configuration"
	case model.Timeout:
		code = protocol.CodeTimeout
	case model.RateLimit:
		if e.After > 0 {
			advice = "the provider wants a pause of " + e.After.Round(time.Second).String()
		}
	}
	message := fmt.Sprintf("%s: %v; %s", name, e, advice)
	return cmp.Or(limitError(e, message), error(protocol.Errorf(code, "%s", message)))
}
