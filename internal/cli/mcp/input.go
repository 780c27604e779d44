package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"agentctl/internal/cli/verb"
	"agentctl/protocol"
)

// maxMCPMessage bounds a message of an MCP client, in bytes.
const maxMCPMessage = 8 << 20

// An mcpInput reads the messages of an MCP client, one a line, and passes on those that the library
// can decode: it ends the connection at any other. These are answered with an error. The messages
// of a batch are passed on one by one.
type mcpInput struct {
	in    *bufio.Reader
	out   io.Writer
	ready []byte
}

func newMCPInput(in io.Reader, out io.Writer) *mcpInput {
	return &mcpInput{in: bufio.NewReader(in), out: out}
}

// Read implements io.Reader.
func (m *mcpInput) Read(p []byte) (int, error) {
	for len(m.ready) == 0 {
		line, err := verb.ReadLine(m.in, maxMCPMessage)
		if err == nil || len(line) > 0 {
			err = m.handle(line)
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, m.ready)
	m.ready = m.ready[n:]
	return n, nil
}

// Close implements io.Closer. The input stays open.
func (m *mcpInput) Close() error { return nil }

// handle passes a line on, or answers it with an error.
func (m *mcpInput) handle(line []byte) error {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	var batch []json.RawMessage
	switch {
	case len(line) > maxMCPMessage:
		return m.refuse(nil, jsonrpc.CodeParseError, fmt.Sprintf("a line is longer than %d bytes", maxMCPMessage))
	case !json.Valid(line):
		return m.refuse(nil, jsonrpc.CodeParseError, "not JSON: want one message of JSON-RPC a line")
	case line[0] != '[':
		return m.message(line)
	}
	if err := json.Unmarshal(line, &batch); err != nil || len(batch) == 0 {
		return m.refuse(nil, jsonrpc.CodeInvalidRequest, "an empty batch")
	}
	for _, message := range batch {
		if err := m.message(message); err != nil {
			return err
		}
	}
	return nil
}

// message passes a message on, or answers it with an error.
func (m *mcpInput) message(b []byte) error {
	_, err := jsonrpc.DecodeMessage(b)
	if err == nil {
		m.ready = append(append(m.ready, b...), '\n')
		return nil
	}
	var request struct {
		ID any `json:"id"`
	}
	_ = json.Unmarshal(b, &request) // without an id the answer has null
	switch request.ID.(type) {
	case string, float64:
	default:
		request.ID = nil
	}
	return m.refuse(request.ID, jsonrpc.CodeInvalidRequest, "not a message of JSON-RPC 2.0: "+err.Error())
}

// refuse answers with an error.
func (m *mcpInput) refuse(id any, code int, text string) error {
	type failure struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	line := protocol.MustEncode(struct {
		Version string  `json:"jsonrpc"`
		ID      any     `json:"id"`
		Error   failure `json:"error"`
	}{"2.0", id, failure{code, text}})
	_, err := m.out.Write(append(line, '\n'))
	return err
}

// An mcpOutput is stdout, to which the library and an mcpInput write whole lines. It stays open
// when the connection ends.
type mcpOutput struct {
	w  io.Writer
	mu sync.Mutex
}

// Write implements io.Writer.
func (m *mcpOutput) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.w.Write(p)
}

// Close implements io.Closer.
func (m *mcpOutput) Close() error { return nil }
