package script

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server/session"
)

type sleep struct {
	Span span `json:"sleep"`
}

func (s *sleep) run(ctx context.Context, l *lane) error { return l.pause(ctx, time.Duration(s.Span)) }

// look is how often a file that is waited for is looked for.
const look = 10 * time.Millisecond

// A wait lasts until a gate is opened or a file is there.
type wait struct {
	For string `json:"wait"`
}

func (w *wait) run(ctx context.Context, l *lane) error {
	if l.skip > 0 {
		return ctx.Err()
	}
	name := l.fill(w.For)
	path, isFile := strings.CutPrefix(name, "file:")
	if !isFile {
		return l.agent.script.pass(ctx, name)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.agent.spec.CWD, path)
	}
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pass waits until the gate is open.
func (s *Script) pass(ctx context.Context, name string) error {
	s.mu.Lock()
	gate := s.gate(name)
	s.mu.Unlock()
	select {
	case <-gate:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ended ends the turn from within its steps.
type ended session.End

func (e ended) Error() string { return "the turn ends: " + string(e.Reason) }

type end struct {
	Reason  protocol.Reason `json:"end"`
	Code    protocol.Code   `json:"code"`
	Message string          `json:"message"`
	Usage   *protocol.Usage `json:"usage"`
}

func (e *end) check() error {
	switch e.Reason {
	case protocol.ReasonCompleted, protocol.ReasonInterrupted, protocol.ReasonError, protocol.ReasonTimeout,
		protocol.ReasonMaxTokens, protocol.ReasonMaxRequests, protocol.ReasonRefusal, protocol.ReasonDenied:
		return nil
	}
	return fmt.Errorf("there is no reason %.40q", string(e.Reason))
}

func (e *end) run(_ context.Context, l *lane) error {
	return ended{Reason: e.Reason, Code: e.Code, Message: l.fill(e.Message), Usage: e.Usage}
}

// A fail breaks off the agent or, in a task, the task.
type fail struct {
	Text string        `json:"fail"`
	Code protocol.Code `json:"code"`
}

func (f *fail) run(_ context.Context, l *lane) error {
	code := f.Code
	if code == "" {
		code = protocol.CodeAgentFailed
	}
	return protocol.Errorf(code, "%s", l.fill(f.Text))
}
