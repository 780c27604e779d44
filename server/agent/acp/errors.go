package acp

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/rpc"
)

// translateError turns an error of the agent into one for users, with the remedy. It stops the process
// of a broken connection.
func (a *Agent) translateError(c *client, err error) error {
	var known *protocol.Error
	var e *rpc.Error
	switch {
	case errors.As(err, &known):
		return err
	case a.ctx.Err() != nil:
		return a.closedError()
	case errors.Is(err, context.DeadlineExceeded):
		return protocol.Errorf(protocol.CodeTimeout, "%s did not answer in time%s", a.config.Name, c.stderrSuffix())
	case wantsLogin(err):
		return c.loginNeeded()
	case errors.As(err, &e):
		return protocol.Errorf(protocol.CodeAgentFailed, "%s: %s", a.config.Name, errorText(e))
	case errors.Is(err, rpc.ErrClosed):
		c.close(a.config.EndGrace)
		how := "ended"
		if exit := c.program.Err(); exit != nil {
			how = "ended with " + exit.Error()
		}
		return protocol.Errorf(protocol.CodeAgentFailed, "%s %s%s", a.config.Name, how, c.stderrSuffix())
	}
	return err
}

// errorText returns the text of an error for users. Some agents put it into the data of the error,
// some pass on the JSON of a model API.
func errorText(e *rpc.Error) string {
	type payload struct {
		Message, Details string
		Error            *struct{ Message string }
	}
	inner := func(text string) string {
		var p payload
		if json.Unmarshal([]byte(text), &p) == nil && p.Error != nil && p.Error.Message != "" {
			return p.Error.Message
		}
		return text
	}
	text := inner(e.Message)
	var data payload
	_ = json.Unmarshal(e.Data, &data) // data may have any form
	for _, more := range []string{inner(data.Details), inner(data.Message)} {
		if more != "" && !strings.Contains(text, more) {
			return text + ": " + more
		}
	}
	return text
}

// stderrSuffix returns the end of standard error, formatted for the end of an error message.
func (c *client) stderrSuffix() string {
	const most = 1 << 10
	log := c.program.StderrTail()
	if len(log) > most {
		log = protocol.ValidText(log[len(log)-most:])
		if _, rest, ok := strings.Cut(log, "\n"); ok {
			log = rest
		}
	}
	if log == "" {
		return ""
	}
	return ": " + log
}

// startError describes a failed start, with the installation hint for a missing program.
func (a *Agent) startError(err error) error {
	if errors.Is(err, exec.ErrNotFound) && a.config.Install != "" {
		return protocol.Errorf(protocol.CodeNoAgent, "%s is not installed: %s not found (%s)",
			a.config.Name, a.config.Command[0], a.config.Install)
	}
	return protocol.Errorf(protocol.CodeNoAgent, "cannot start %s: %v", a.config.Name, err)
}

// failedPrompt returns the end of a turn whose prompt failed. Some agents report the length limit
// of the model as an error, and most of them a usage limit.
func (a *Agent) failedPrompt(c *client, t *turn, err error) (agent.End, error) {
	e, ok := errors.AsType[*rpc.Error](err)
	if ok && isMaxTokens(e) {
		return agent.End{Reason: protocol.ReasonMaxTokens, Message: errorText(e)}, nil
	}
	if ok && !wantsLogin(err) {
		t.mu.Lock()
		end, ok := t.limited(c.config.Name, e)
		t.mu.Unlock()
		if ok {
			return end, nil
		}
	}
	return agent.End{}, a.translateError(c, err)
}

// isMaxTokens reports whether an error means the length limit of the model.
func isMaxTokens(e *rpc.Error) bool {
	return strings.Contains(e.Message, "max_output_tokens") || strings.Contains(string(e.Data), "max_output_tokens")
}
