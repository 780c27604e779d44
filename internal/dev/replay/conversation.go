package replay

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"agentctl/protocol"
)

// A Conversation is what two ends sent each other, in order.
type Conversation struct {
	Name string // of the file below the dialect's directory, without its extension
	Header
	Steps []Step
}

// A Header is the first line of a conversation's file.
type Header struct {
	System   string            `json:"system"`
	Version  string            `json:"version"`
	End      string            `json:"end"` // of the real system: real-server, real-client or real-agent
	Peer     string            `json:"peer"`
	Scenario string            `json:"scenario"`
	Note     string            `json:"note"`
	Env      map[string]string `json:"env"` // of an agent
}

// A Direction is the direction of a frame.
type Direction string

// The directions.
const (
	ToServer Direction = "c2s"
	ToClient Direction = "s2c"
	ToCaller Direction = "http" // the answer to an HTTP request
)

// A Step is a frame, an HTTP exchange, or the begin or end of a connection. The lines of an agent
// of the Agent Client Protocol are frames to the client, and each of its processes is a connection.
type Step struct {
	MS        int       `json:"ms"`   // since the begin
	Conn      int       `json:"conn"` // of several connections
	Direction Direction `json:"dir"`
	Frame     *string   `json:"frame"`
	Open      bool      `json:"open"`
	Close     *Close    `json:"close"`
	HTTP      *HTTP     `json:"http"`
}

// A Close is a WebSocket close. Code 1006 means that the connection was cut.
type Close struct {
	Code   int    `json:"code"`
	Reason string `json:"reason"`
}

// HTTP is a request and its answer.
type HTTP struct {
	Method      string            `json:"method"`
	Path        string            `json:"path"`
	Upgrade     bool              `json:"upgrade"`
	Status      int               `json:"status"`
	Headers     map[string]string `json:"headers"`
	RequestBody string            `json:"request_body"`
	Body        string            `json:"body"`
}

// what returns the method and the path of a request, without its query.
func (h *HTTP) what() string {
	path, _, _ := strings.Cut(h.Path, "?")
	return h.Method + " " + path
}

// messageType returns the type of the message in the answer's body.
func (h *HTTP) messageType() string { return fmt.Sprintf("%s %d", h.what(), h.Status) }

// ServerIsReal reports whether the frames to the client come from the real server or agent.
func (c *Conversation) ServerIsReal() bool {
	return c.End != "real-client" || !strings.Contains(c.Peer, "agentctl")
}

// Conns returns the numbers of the connections in the order of their begin.
func (c *Conversation) Conns() (conns []int) {
	for _, s := range c.Steps {
		if s.Open {
			conns = append(conns, s.Conn)
		}
	}
	return conns
}

// Reconnects reports whether no two connections are open at the same time, as with one client.
func (c *Conversation) Reconnects() bool {
	open := 0
	for _, s := range c.Steps {
		switch {
		case s.Open:
			open++
		case s.Close != nil:
			open--
		}
		if open > 1 {
			return false
		}
	}
	return true
}

// Load reads the conversations of a directory of a dialect, and of those in it, whose names end in
// the version of a system, by name. A directory that does not exist has none.
func Load(dir string) (list []*Conversation, err error) {
	var paths []string
	for _, pattern := range []string{"*.jsonl", "*/*.jsonl"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		c := &Conversation{Name: strings.TrimSuffix(filepath.Base(path), ".jsonl")}
		if system := filepath.Dir(path); system != dir {
			system = filepath.Base(system)
			c.Name = system[:strings.LastIndexByte(system, '-')] + "/" + c.Name
		}
		if err := c.decode(data); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, c)
	}
	return list, nil
}

// decode decodes the lines of a file: a header, then steps. Blank lines are skipped. An unknown key
// is an error.
func (c *Conversation) decode(data []byte) error {
	number, process := 0, 0
	for line := range bytes.Lines(data) {
		if number++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if number == 1 {
			if err := protocol.DecodeStrict(line, &c.Header); err != nil {
				return err
			}
			continue
		}
		var s struct {
			Step
			Line  *string `json:"line"`  // of an agent
			Start bool    `json:"start"` // of an agent's process
			Exit  *int    `json:"exit"`  // status of the process
		}
		if err := protocol.DecodeStrict(line, &s); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if s.Start {
			process++
		}
		switch s.Direction {
		case "c2a":
			s.Direction = ToServer
		case "a2c":
			s.Direction = ToClient
		}
		if s.Line != nil {
			s.Frame = s.Line
		}
		if s.Exit != nil {
			s.Close = &Close{Code: *s.Exit}
		}
		s.Open, s.Conn = s.Open || s.Start, s.Conn+process
		c.Steps = append(c.Steps, s.Step)
	}
	return nil
}
