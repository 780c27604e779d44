package acp

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/acp/rpc"
)

// translateError turns an error of the wire into one for people. A broken connection is the end of its program.
func (a *Agent) translateError(c *client, err error) error {
	var known *protocol.Error
	switch {
	case errors.As(err, &known):
		return err
	case a.ctx.Err() != nil:
		return a.closedError()
	case errors.Is(err, context.DeadlineExceeded):
		return protocol.Errorf(protocol.CodeTimeout, "%s did not answer in time%s", a.config.Name, c.stderrSuffix())
	case errors.Is(err, rpc.ErrClosed):
		c.close(a.config.EndGrace)
	}
	return c.describeError(err)
}

// describeError says what went wrong between the agent and us, and what to do about it.
func (c *client) describeError(err error) error {
	var e *rpc.Error
	switch {
	case wantsLogin(err):
		return protocol.Errorf(protocol.CodeAgentAuth, "%s wants a login first: %s", c.config.Name, c.loginHint())
	case errors.As(err, &e):
		return protocol.Errorf(protocol.CodeAgentFailed, "%s: %s", c.config.Name, errorText(e))
	case errors.Is(err, rpc.ErrClosed):
		how := "ended"
		if exit := c.proc.Err(); exit != nil {
			how = "ended with " + exit.Error()
		}
		return protocol.Errorf(protocol.CodeAgentFailed, "%s %s%s", c.config.Name, how, c.stderrSuffix())
	}
	return err
}

// errorText finds what an error says to people. Some agents keep it in the error's data, some hand on the JSON of a model's API.
func errorText(e *rpc.Error) string {
	type told struct {
		Message, Details string
		Error            *struct{ Message string }
	}
	text := e.Message
	var inner told
	if json.Unmarshal([]byte(text), &inner) == nil && inner.Error != nil && inner.Error.Message != "" {
		text = inner.Error.Message
	}
	var data told
	_ = json.Unmarshal(e.Data, &data) // data may be anything, or nothing
	for _, more := range []string{data.Details, data.Message} {
		if more != "" && !strings.Contains(text, more) {
			return text + ": " + more
		}
	}
	return text
}

// stderrSuffix is the end of what the program wrote to its standard error, for an error message.
func (c *client) stderrSuffix() string {
	const most = 1 << 10
	log := c.proc.StderrTail()
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

// startError tells how to get a program that is not there.
func (a *Agent) startError(err error) error {
	if errors.Is(err, exec.ErrNotFound) && a.config.Install != "" {
		return protocol.Errorf(protocol.CodeNoAgent, "%s is not installed: %s is not found (%s)",
			a.config.Name, a.config.Command[0], a.config.Install)
	}
	return protocol.Errorf(protocol.CodeNoAgent, "%s cannot be started: %v", a.config.Name, err)
}
