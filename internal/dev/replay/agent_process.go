package replay

import (
	"bytes"
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"agentctl/server/agent"
	"agentctl/server/agent/acp"
	"agentctl/server/session"
)

// playedAgents is a registry with one agent, whose process is played.
type playedAgents struct {
	name  string
	dials chan *agentProcess
}

var _ session.Agents = (*playedAgents)(nil)

func (a *playedAgents) Names() []string { return []string{a.name} }

func (a *playedAgents) Open(spec agent.Spec, host agent.Host) (agent.Agent, error) {
	// A recorded agent answers a load once, so the client tries it once.
	return acp.New(acp.Config{Name: a.name, Dial: a.dial, RestoreTimeout: time.Nanosecond}, spec, host)
}

// dial connects agentctl's client to a played process.
func (a *playedAgents) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	p := &agentProcess{}
	p.PipeReader, p.out = io.Pipe()
	select {
	case a.dials <- p:
		return p, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// An agentProcess is an agent's process, as agentctl's client reads and writes it. It keeps the
// lines that the client wrote.
type agentProcess struct {
	*io.PipeReader // of the agent's output
	out            *io.PipeWriter

	mu       sync.Mutex
	exited   bool
	partial  []byte    // of a line
	received []rpcLine // not taken yet
}

func (p *agentProcess) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.exited {
		return 0, io.ErrClosedPipe
	}
	p.partial = append(p.partial, b...)
	for {
		line, rest, ok := bytes.Cut(p.partial, []byte("\n"))
		if !ok {
			return len(b), nil
		}
		p.received, p.partial = append(p.received, parseLine(line)), rest
	}
}

// find returns the first line received that matches. A line is taken once.
func (p *agentProcess) find(match func(rpcLine) bool, take bool) (m rpcLine, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.received, match)
	if i < 0 {
		return m, false
	}
	if m = p.received[i]; take {
		p.received = slices.Delete(p.received, i, i+1)
	}
	return m, true
}

// exit ends the process.
func (p *agentProcess) exit() {
	_ = p.out.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.exited = true
}
