package replay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"sync"
	"time"

	"agentctl/server/agent"
	"agentctl/server/agent/acp"
	"agentctl/server/session"
)

// acpAgents is a registry with one agent, whose process is played.
type acpAgents struct {
	name  string
	dials chan *acpProcess
}

var _ session.Agents = (*acpAgents)(nil)

func (a *acpAgents) Names() []string { return []string{a.name} }

func (a *acpAgents) Open(spec agent.Spec, host agent.Host) (agent.Agent, error) {
	// A recorded agent answers a load once, so the client tries it once.
	return acp.New(acp.Config{Name: a.name, Dial: a.dial, RestoreTimeout: time.Nanosecond}, spec, host)
}

// dial connects agentctl's client to a played process.
func (a *acpAgents) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	fromClient, toAgent := io.Pipe()
	fromAgent, toClient := io.Pipe()
	p := &acpProcess{in: fromClient, out: toClient}
	p.reading.Go(p.read)
	select {
	case a.dials <- p:
		return &acpPipe{fromAgent, toAgent}, nil
	case <-ctx.Done():
		p.exit()
		return nil, ctx.Err()
	}
}

// acpPipe is the client's end.
type acpPipe struct {
	*io.PipeReader
	out *io.PipeWriter
}

func (p *acpPipe) Write(b []byte) (int, error) { return p.out.Write(b) }

func (p *acpPipe) Close() error {
	_ = p.PipeReader.Close()
	return p.out.Close()
}

// An acpProcess is the agent's end of a connection. It keeps the lines that agentctl's client sent.
type acpProcess struct {
	in      *io.PipeReader
	out     *io.PipeWriter
	reading sync.WaitGroup

	mu       sync.Mutex
	received []rpcLine // not taken yet
}

func (p *acpProcess) read() {
	lines := bufio.NewScanner(p.in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		p.mu.Lock()
		p.received = append(p.received, parseLine(lines.Text()))
		p.mu.Unlock()
	}
}

// take returns the first line received that matches, once.
func (p *acpProcess) take(match func(rpcLine) bool) (rpcLine, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, m := range p.received {
		if match(m) {
			p.received = append(p.received[:i:i], p.received[i+1:]...)
			return m, true
		}
	}
	return rpcLine{}, false
}

// answered reports whether the client has answered a request.
func (p *acpProcess) answered(id json.RawMessage) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.received, func(m rpcLine) bool { return m.Method == "" && bytes.Equal(m.ID, id) })
}

// write writes a line. It fails when the client has closed the connection.
func (p *acpProcess) write(line string) error {
	_, err := io.WriteString(p.out, line+"\n")
	return err
}

// exit ends the process.
func (p *acpProcess) exit() {
	_ = p.out.Close()
	_ = p.in.Close()
	p.reading.Wait()
}
