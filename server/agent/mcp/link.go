package mcp

import (
	"io"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentctl/server/agent"
	"agentctl/server/agent/process"
)

// A link is the way to a server: a program or HTTP.
type link struct {
	transport sdk.Transport
	stop      func()        // stops the program; requests by HTTP end soon
	end       func()        // stops the program without a grace period, and returns when it has exited
	stderr    func() string // the last that the program wrote there
}

// dial starts the program of the server, or makes a client of HTTP. It does not connect.
func (s *Server) dial(b *Toolbox) (*link, error) {
	if s.Command == nil {
		return s.dialURL(), nil
	}
	p, err := b.options.Box.Start(process.Command{
		Args: s.Command, Dir: b.options.CWD, Env: s.Env, Session: b.options.Session,
		Record: agent.RecordGroup(b.options.Host, false),
	})
	if err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		err := copyMessages(w, p.Stdout)
		_ = w.CloseWithError(err)
	}()
	var once sync.Once
	end := func() {
		once.Do(func() {
			_ = r.Close() // the copy continues without a reader
			p.End(endGrace)
			<-drained
			p.Release()
			if err := agent.RecordGroup(b.options.Host, true)(p.Group()); err != nil {
				b.options.Host.Logf("MCP server %s: %v", s.Name, err)
			}
		})
	}
	return &link{&sdk.IOTransport{Reader: r, Writer: p.Stdin}, end, end, p.StderrTail}, nil
}
