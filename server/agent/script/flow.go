package script

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

type sleep struct {
	Span duration `json:"sleep"`
}

func (s *sleep) run(ctx context.Context, r *runner) error { return r.sleep(ctx, time.Duration(s.Span)) }

const filePollInterval = 10 * time.Millisecond

// A wait waits until a gate is open or a file exists.
type wait struct {
	For string `json:"wait"`
}

func (w *wait) run(ctx context.Context, r *runner) error {
	if r.skip > 0 {
		return ctx.Err()
	}
	name := r.expand(w.For)
	path, isFile := strings.CutPrefix(name, "file:")
	if !isFile {
		return r.agent.script.waitGate(ctx, name)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.agent.spec.CWD, path)
	}
	tick := time.Tick(filePollInterval)
	for {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *Script) waitGate(ctx context.Context, name string) error {
	s.mu.Lock()
	gate := s.gateChan(name)
	s.mu.Unlock()
	select {
	case <-gate:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// An endError ends the turn from a step.
type endError agent.End

func (e endError) Error() string { return "end of turn: " + string(e.Reason) }

type end struct {
	Reason  protocol.Reason `json:"end"`
	Code    protocol.Code   `json:"code"`
	Message string          `json:"message"`
	Usage   *protocol.Usage `json:"usage"`

	ResetsIn duration `json:"resets_in"`
	TakenIn  bool     `json:"taken_in"`
}

func (e *end) check() error {
	switch e.Reason {
	case protocol.ReasonCompleted, protocol.ReasonInterrupted, protocol.ReasonError, protocol.ReasonTimeout,
		protocol.ReasonMaxTokens, protocol.ReasonMaxRequests, protocol.ReasonRefusal, protocol.ReasonDenied,
		protocol.ReasonBudget, protocol.ReasonLimited, protocol.ReasonLoop:
		return nil
	}
	return fmt.Errorf("unknown reason %.40q", string(e.Reason))
}

func (e *end) run(_ context.Context, r *runner) error {
	ended := endError{Reason: e.Reason, Code: e.Code, Message: r.expand(e.Message), Usage: e.Usage}
	if e.Reason == protocol.ReasonLimited {
		ended.Code, ended.Limit = protocol.CodeLimited, &agent.Limit{TookIn: e.TakenIn}
		if e.ResetsIn > 0 {
			ended.Limit.ResetsAt = time.Now().Add(time.Duration(e.ResetsIn))
		}
	}
	return ended
}

// A fail fails the agent or, in a task, the task.
type fail struct {
	Text string        `json:"fail"`
	Code protocol.Code `json:"code"`
}

func (f *fail) run(_ context.Context, r *runner) error {
	return protocol.Errorf(cmp.Or(f.Code, protocol.CodeAgentFailed), "%s", r.expand(f.Text))
}
