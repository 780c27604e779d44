//go:build interop

package sandcastle

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/interop/interoptest"
)

// A nodeProcess runs one of the Node programs of this directory. It sends commands and receives
// reports; see commands.mjs.
type nodeProcess struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	lines   chan line
	stderr  *bytes.Buffer
	last    int
	answers map[int]line
	streams map[string]*stream
	reports map[string]json.RawMessage // newest unsolicited reports by name
}

// A line is one report: an answer, an event or the end of a stream, or an unsolicited report.
type line struct {
	ID           int
	Value, Error json.RawMessage
	Stream, End  string
	Event        *streamEvent
	Report       string
}

// A stream holds the events received from one stream.
type stream struct {
	events []*streamEvent
	end    string
}

// A streamEvent is an event of a stream.
type streamEvent struct {
	Tag              string `json:"_tag"`
	TurnID, Reason   string
	Event            chunk
	Buffer           []chunk
	MessageID        string
	Message          message
	TurnContext      *struct{ TurnID, Content string }
	PendingApprovals []struct{ ToolCallID, ToolName string }
	Snapshot         snapshot
}

type chunk struct{ Type, Delta, FinishReason, ErrorText, ToolCallID string }

type message struct{ ID, Content, ClientMessageID string }

type snapshot struct {
	Status        string
	ActiveTurnID  *string
	Queue         []message
	HistoryCursor struct{ LastMessageID *string }
}

func newNodeProcess(t *testing.T, program ...string) *nodeProcess {
	t.Helper()
	n := &nodeProcess{
		t:       t,
		lines:   make(chan line, 1<<15),
		stderr:  &bytes.Buffer{},
		answers: map[int]line{},
		streams: map[string]*stream{},
		reports: map[string]json.RawMessage{},
	}
	n.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), "node", program...)
	n.cmd.Stderr = n.stderr
	var err error
	n.in, err = n.cmd.StdinPipe()
	interoptest.Must(t, err)
	stdout, err := n.cmd.StdoutPipe()
	interoptest.Must(t, err)
	interoptest.Must(t, n.cmd.Start())
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(n.lines)
		r := bufio.NewReader(stdout)
		for {
			b, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			var l line
			if json.Unmarshal(b, &l) != nil {
				l = line{Report: "noise", Value: b}
			}
			n.lines <- l
		}
	}()
	t.Cleanup(func() {
		_ = n.in.Close() // the program exits at the end of its input
		end := time.AfterFunc(interoptest.Timeout, func() { _ = n.cmd.Process.Kill() })
		for range n.lines {
		}
		<-done
		if err := n.cmd.Wait(); err != nil || !end.Stop() {
			t.Logf("%s: %v\n%s", program[0], err, n.stderr)
		}
	})
	return n
}

// kill ends the process without a shutdown.
func (n *nodeProcess) kill() { _ = n.cmd.Process.Kill() }

// waitFor handles reports until the condition holds.
func (n *nodeProcess) waitFor(what string, condition func() bool) {
	n.t.Helper()
	timeout := time.After(interoptest.Timeout)
	for !condition() {
		select {
		case l, ok := <-n.lines:
			if !ok {
				n.t.Fatalf("the process exited: not %s\n%s", what, n.stderr)
			}
			n.handle(l)
		case <-timeout:
			n.t.Fatalf("timeout: not %s\n%s\n%s", what, n.dump(), n.stderr)
		}
	}
}

func (n *nodeProcess) handle(l line) {
	switch {
	case l.ID > 0:
		n.answers[l.ID] = l
	case l.Stream != "":
		s := n.stream(l.Stream)
		if l.Event != nil {
			s.events = append(s.events, l.Event)
		} else {
			s.end = l.End
		}
	default:
		n.reports[l.Report] = l.Value
	}
}

func (n *nodeProcess) stream(name string) *stream {
	if n.streams[name] == nil {
		n.streams[name] = &stream{}
	}
	return n.streams[name]
}

// dump returns everything received, for failure messages.
func (n *nodeProcess) dump() string {
	var b strings.Builder
	for name, s := range n.streams {
		b.WriteString(name + ": " + s.summary() + " " + s.end + "\n")
	}
	for name, v := range n.reports {
		b.WriteString(name + ": " + string(v) + "\n")
	}
	return b.String()
}

type args map[string]any

// begin sends a command and returns its id.
func (n *nodeProcess) begin(verb string, a args) (id int) {
	n.t.Helper()
	n.last++
	all := map[string]any{"verb": verb, "id": n.last}
	for k, v := range a {
		all[k] = v
	}
	b, err := json.Marshal(all)
	interoptest.Must(n.t, err)
	_, err = n.in.Write(append(b, '\n'))
	interoptest.Must(n.t, err)
	return n.last
}

// wait returns the answer of a command: a value, or an error as JSON.
func (n *nodeProcess) wait(id int) (value, failure string) {
	n.t.Helper()
	n.waitFor("answered", func() bool { _, ok := n.answers[id]; return ok })
	return string(n.answers[id].Value), string(n.answers[id].Error)
}

// run executes a command that must succeed.
func (n *nodeProcess) run(verb string, a args) string {
	n.t.Helper()
	v, e := n.wait(n.begin(verb, a))
	if e != "" {
		n.t.Fatalf("%s: %s", verb, e)
	}
	return v
}

// connect opens a connection.
func (n *nodeProcess) connect(name string) { n.t.Helper(); n.run("connect", args{"connection": name}) }

// subscribe opens a stream of a session and waits for its first event.
func (n *nodeProcess) subscribe(connection, name, session string) *stream {
	n.t.Helper()
	return n.subscribeWith(connection, name, session, "SubscribeSession")
}

// subscribeWith is subscribe with a request tag.
func (n *nodeProcess) subscribeWith(connection, name, session, tag string) *stream {
	n.t.Helper()
	n.run("subscribe", args{"connection": connection, "stream": name, "session": session, "tag": tag})
	s := n.stream(name)
	n.waitFor(name+" open", func() bool { return len(s.events) > 0 || s.end != "" })
	return s
}

// call sends a request that must succeed.
func (n *nodeProcess) call(connection, tag string, payload args) string {
	n.t.Helper()
	return n.run("call", args{"connection": connection, "tag": tag, "payload": payload})
}

// callFails sends a request that must fail, and returns its error.
func (n *nodeProcess) callFails(connection, tag string, payload args) string {
	n.t.Helper()
	v, e := n.wait(n.begin("call", args{"connection": connection, "tag": tag, "payload": payload}))
	if e == "" {
		n.t.Errorf("%s succeeded: %s", tag, v)
	}
	return e
}

// sendMessage sends a message with the document's request.
func (n *nodeProcess) sendMessage(connection, session, text, clientMessageID string) string {
	n.t.Helper()
	return n.call(
		connection, "SendMessage", args{"sessionId": session, "content": text, "clientMessageId": clientMessageID},
	)
}

// first returns the first event of a stream, the state.
func (s *stream) first() *streamEvent { return s.events[0] }

// summary lists the event kinds of a stream, without deltas and data for agentctl's client.
func (s *stream) summary() string {
	var list []string
	for _, e := range s.events {
		w := e.Tag
		if e.Tag == "StreamEvent" {
			w = e.Event.Type + e.Event.FinishReason
		}
		if strings.HasSuffix(w, "-delta") || strings.HasPrefix(w, "data-") {
			continue
		}
		list = append(list, w+e.Reason)
	}
	return strings.Join(slices.Compact(list), " ") // tool output is repeated as it grows
}

// text returns the agent's text in a stream, buffer included.
func (s *stream) text() string {
	var b strings.Builder
	for _, e := range s.events {
		for _, c := range append(e.Buffer, e.Event) {
			if c.Type == "text-delta" {
				b.WriteString(c.Delta)
			}
		}
	}
	return b.String()
}

// has returns a condition: n events of that tag arrived.
func (s *stream) has(tag string, n int) func() bool {
	return func() bool {
		found := 0
		for _, e := range s.events {
			if e.Tag == tag {
				found++
			}
		}
		return found >= n
	}
}

// hasText returns a condition: the agent's text contains text.
func (s *stream) hasText(text string) func() bool {
	return func() bool { return strings.Contains(s.text(), text) }
}
