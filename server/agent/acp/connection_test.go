package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// dialedAgent returns an agent that is reached by a connection, whose other end is played.
func dialedAgent(t *testing.T, spec agent.Spec, play func(*lineScript)) (*Agent, *recorder) {
	t.Helper()
	r := &recorder{decide: deny, changed: make(chan struct{}, 1)}
	config := Config{Name: "Remote", Dial: func(context.Context) (io.ReadWriteCloser, error) {
		ours, theirs := net.Pipe()
		go play(&lineScript{in: bufio.NewReader(theirs), out: theirs})
		return ours, nil
	}}
	a, err := New(config, spec, r)
	if err != nil {
		t.Fatal(err)
	}
	return a, r
}

func turnOf(text string) agent.Turn {
	return agent.Turn{ID: "turn", Message: protocol.Message{Text: text}}
}

// lineScript plays an agent line by line. It keeps the first error.
type lineScript struct {
	in  *bufio.Reader
	out io.WriteCloser
	err error
}

// receive returns the id of the next line, a request of the method.
func (s *lineScript) receive(method string) json.RawMessage {
	line, err := s.in.ReadBytes('\n')
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if err == nil {
		err = json.Unmarshal(line, &m)
	}
	if err == nil && m.Method != method {
		err = fmt.Errorf("got %s, want %s", m.Method, method)
	}
	if s.err == nil {
		s.err = err
	}
	return m.ID
}

func (s *lineScript) answer(method, result string) {
	s.respond(method, `"result":`+result)
}

// respond answers a request with a result or an error.
func (s *lineScript) respond(method, field string) {
	id := s.receive(method)
	_, err := fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", id, field)
	if err != nil && s.err == nil {
		s.err = err
	}
}

// hangUp closes the connection instead of an answer.
func (s *lineScript) hangUp(method string) {
	s.receive(method)
	_ = s.out.Close()
}
