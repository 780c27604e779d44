package mcp

import (
	"context"
	"fmt"

	"agentctl/server/agent"
)

// A Probed is a server's offer to a check.
type Probed struct {
	Tools   int
	Prompts int
	LeftOut string // for users; empty: nothing
}

// Probe connects to a server, reads its offer and closes the connection.
func Probe(ctx context.Context, s Server, cwd string) (p Probed, err error) {
	if s.Problem != "" {
		return p, fmt.Errorf("%s", s.Problem)
	}
	b := &Toolbox{options: Options{Host: probeHost{}, CWD: cwd}}
	for attempt := range 2 {
		c := newConnection(b, s)
		if err = c.probe(ctx, attempt); err == nil {
			o := c.offered()
			return Probed{Tools: len(o.tools), Prompts: len(o.prompts), LeftOut: o.leftOut}, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return p, err
}

// probe connects once.
func (c *connection) probe(ctx context.Context, failures int) error {
	l, err := c.server.dial(c.box)
	if err != nil {
		return err
	}
	defer l.end()
	s, err := c.connect(ctx, l.transport, failures)
	if err != nil {
		if tail := l.stderr(); tail != "" {
			err = fmt.Errorf("%w: %s", err, lastLine(tail))
		}
		return err
	}
	l.stop()
	_ = s.Close() // the program has ended, or the request has
	return nil
}

// probeHost is the host of a check: nothing is recorded.
type probeHost struct{ agent.Host }

func (probeHost) Emit(agent.Event) error                      { return nil }
func (probeHost) Logf(string, ...any)                         {}
func (probeHost) RecordProcessGroup(agent.ProcessGroup) error { return nil }
