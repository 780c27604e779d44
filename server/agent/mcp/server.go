package mcp

import (
	"cmp"
	"time"

	"agentctl/server/agent"
	"agentctl/server/sandbox"
)

// Types of servers with a URL.
const (
	TypeHTTP = "http" // streamable HTTP
	TypeSSE  = "sse"  // the older transport
)

// A Server is a server of the Model Context Protocol: a command or a URL.
type Server struct {
	Name    string
	Command []string // the program and its arguments
	Env     []string // of the program, K=V
	Type    string   // of the URL; empty: TypeHTTP
	URL     string
	Headers map[string]string // of requests to the URL

	// TrustReadOnly runs the tools that the server calls read-only without asking.
	TrustReadOnly bool

	StartTimeout time.Duration // until its tools are known; 0: 30 s
	CallTimeout  time.Duration // of a call, after its start or its last progress; 0: 60 s

	// Problem is the reason why the server cannot be used; empty: it can.
	Problem string
}

// Times to wait.
const (
	defaultStart = 30 * time.Second
	defaultCall  = time.Minute
	maxCall      = 30 * time.Minute // of a call with progress
	firstWait    = 10 * time.Second // of the first request to the model for servers that start
	stableTime   = time.Minute      // after which a connection counts as good
	endGrace     = time.Second      // between the ways to end a program
	changePause  = time.Second      // between two readings of a list that changes
	minBackoff   = 250 * time.Millisecond
	maxBackoff   = 5 * time.Minute
)

// Limits of a server's messages.
const (
	maxTools       = 128
	maxPrompts     = 64
	maxBad         = 1000 // tools that cannot be used, after which the others are left out
	maxSchema      = 32 << 10
	maxAbout       = 4 << 10
	maxShown       = 30_000 // bytes of a result that the model gets, unless Options.Shorten bounds it
	maxStructured  = 64 << 10
	maxImage       = 5 << 20
	maxImages      = 8
	maxProgress    = 100      // lines of progress of a call
	maxHTTPMessage = 16 << 20 // the SDK bounds lines and events to the same
)

func (s *Server) startTimeout() time.Duration { return cmp.Or(s.StartTimeout, defaultStart) }
func (s *Server) callTimeout() time.Duration  { return cmp.Or(s.CallTimeout, defaultCall) }

// Options are the dependencies of a session's connections.
type Options struct {
	Servers []Server
	Session string
	CWD     string // of programs
	Host    agent.Host
	Box     *sandbox.Box // of programs

	// Shorten returns a long text for the model, cut. nil: a simple cut.
	Shorten func(text string) string
}
