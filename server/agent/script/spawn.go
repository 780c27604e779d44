package script

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"agentctl/server/agent/process"
	"agentctl/server/session"
)

// grace is how long a spawned program may take to end after its input is closed, and again after it is asked to.
const grace = 200 * time.Millisecond

// A spawn is a program that runs in a process group of its own until the agent is closed.
type spawn struct {
	Args []string `json:"spawn"`
}

func (s *spawn) check() error {
	if len(s.Args) == 0 {
		return errors.New("no command")
	}
	return nil
}

func (s *spawn) run(ctx context.Context, l *lane) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	env := os.Environ()
	for k, v := range l.agent.spec.Env {
		env = append(env, k+"="+v)
	}
	p, err := process.Start(process.Command{Args: s.Args, Dir: l.agent.spec.CWD, Env: env, Keep: func(g process.Group) error {
		return l.agent.host.RecordProcessGroup(session.ProcessGroup{PID: g.PID, Start: g.Start})
	}})
	if err != nil {
		return fmt.Errorf("spawn: %w", err)
	}
	c := &child{Process: p, drained: make(chan struct{})}
	go func() {
		defer close(c.drained)
		_, _ = io.Copy(io.Discard, p.Stdout)
	}()
	l.agent.mu.Lock()
	l.agent.children = append(l.agent.children, c)
	l.agent.mu.Unlock()
	return nil
}

// A child is a spawned program whose output is read and dropped.
type child struct {
	*process.Process
	drained chan struct{}
}

// end returns when nothing of the program is left and that is on record.
func (c *child) end(host session.Host) error {
	c.End(grace)
	<-c.drained
	c.Release()
	g := c.Group()
	return host.RecordProcessGroup(session.ProcessGroup{PID: g.PID, Start: g.Start, Ended: true})
}
