package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	list := make([]*Conversation, len(paths))
	for i, path := range paths {
		if list[i], err = read(path); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return list, nil
}

// read reads a conversation's file. An unknown key is an error.
func read(path string) (*Conversation, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := &Conversation{Name: strings.TrimSuffix(filepath.Base(path), ".jsonl")}
	number := 0
	for line := range bytes.Lines(data) {
		if number++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var v any = &c.Header
		if number > 1 {
			c.Steps = append(c.Steps, Step{})
			v = &c.Steps[len(c.Steps)-1]
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(v); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	return c, nil
}
