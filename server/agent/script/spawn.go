package script

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"agentctl/server/agent"
	"agentctl/server/agent/process"
)

// grace is the time for a spawned program to exit after its input is closed, and again after TERM.
const grace = 200 * time.Millisecond

// A spawn step runs a program in its own process group until the agent is closed.
type spawn struct {
	Args []string `json:"spawn"`
}

func (s *spawn) check() error {
	if len(s.Args) == 0 {
		return errors.New("no command")
	}
	return nil
}

func (s *spawn) run(ctx context.Context, r *runner) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	env := os.Environ()
	for k, v := range r.agent.spec.Env {
		env = append(env, k+"="+v)
	}
	p, err := r.agent.spec.Box.Start(process.Command{
		Args: s.Args, Dir: r.agent.spec.CWD, Env: env, Session: r.agent.spec.Session,
		Record: agent.RecordGroup(r.agent.host, false),
	})
	if err != nil {
		return fmt.Errorf("spawn: %w", err)
	}
	c := &child{Process: p, drained: make(chan struct{})}
	go func() {
		defer close(c.drained)
		_, _ = io.Copy(io.Discard, p.Stdout)
	}()
	r.agent.mu.Lock()
	r.agent.children = append(r.agent.children, c)
	r.agent.mu.Unlock()
	return nil
}

// A child is a spawned program. Its output is discarded.
type child struct {
	*process.Process
	drained chan struct{}
}

// end stops the program and its process group and records the end.
func (c *child) end(host agent.Host) error {
	c.End(grace)
	<-c.drained
	c.Release()
	return agent.RecordGroup(host, true)(c.Group())
}
