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
	Name string // of the file, without its extension
	Header
	Steps []Step
}

// A Header is the first line of a conversation's file.
type Header struct {
	System   string `json:"system"`
	Version  string `json:"version"`
	End      End    `json:"end"`
	Peer     string `json:"peer"`
	Scenario string `json:"scenario"`
	Note     string `json:"note"`
}

// An End tells which end of a conversation is of the real system.
type End string

// The ends.
const (
	RealServer End = "real-server"
	RealClient End = "real-client"
)

// A Direction is that of a frame.
type Direction string

// The directions.
const (
	ToServer Direction = "c2s"
	ToClient Direction = "s2c"
	ToCaller Direction = "http" // the answer to an HTTP request
)

// A Step is a frame, an HTTP exchange, or the begin or end of a connection.
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

// ServerIsReal reports whether the frames to the client are those of the real server.
func (c *Conversation) ServerIsReal() bool {
	return c.End == RealServer || !strings.Contains(c.Peer, "agentctl")
}

// Conns returns the numbers of the connections in the order of their begin.
func (c *Conversation) Conns() (conns []int) {
	seen := map[int]bool{}
	for _, s := range c.Steps {
		if s.Open && !seen[s.Conn] {
			seen[s.Conn] = true
			conns = append(conns, s.Conn)
		}
	}
	return conns
}

// Load reads the conversations of a directory, by name. A directory that does not exist has none.
func Load(dir string) ([]*Conversation, error) {
	return readAll(dir, func(name string, data []byte) (*Conversation, error) {
		c := &Conversation{Name: name}
		var err error
		c.Steps, err = decodeLines[Step](data, &c.Header)
		return c, err
	})
}

// readAll reads the files of conversations in a directory, by name.
func readAll[T any](dir string, decode func(name string, data []byte) (T, error)) ([]T, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	list := make([]T, len(paths))
	for i, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if list[i], err = decode(strings.TrimSuffix(filepath.Base(path), ".jsonl"), data); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return list, nil
}

// decodeLines decodes the lines of a file: a header, then steps. Blank lines are skipped. An
// unknown key is an error.
func decodeLines[S any](data []byte, header any) (steps []S, err error) {
	number := 0
	for line := range bytes.Lines(data) {
		if number++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		v := header
		if number > 1 {
			steps = append(steps, *new(S))
			v = &steps[len(steps)-1]
		}
		if err := protocol.DecodeStrict(line, v); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	return steps, nil
}
