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
)

// A node is one of the programs beside this file: it is told what to do, and says what it sees.
type node struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	lines   chan line
	wrong   *bytes.Buffer
	last    int
	answers map[int]line
	streams map[string]*stream
	told    map[string]json.RawMessage // the newest of what it says unasked
}

// A line is what it says: an answer, an event of a stream, its end, or something that it tells.
type line struct {
	ID           int
	Value, Error json.RawMessage
	Stream, End  string
	Event        *sight
	Tell         string
}

// A stream is what was seen of one.
type stream struct {
	events []*sight
	end    string
}

// A sight is an event of a stream.
type sight struct {
	Tag              string `json:"_tag"`
	TurnID, Reason   string
	Event            step
	Buffer           []step
	MessageID        string
	Message          message
	TurnContext      *struct{ TurnID, Content string }
	PendingApprovals []struct{ ToolCallID, ToolName string }
	Snapshot         snapshot
}

type step struct{ Type, Delta, FinishReason, ErrorText, ToolCallID string }

type message struct{ ID, Content, ClientMessageID string }

type snapshot struct {
	Status        string
	ActiveTurnID  *string
	Queue         []message
	HistoryCursor struct{ LastMessageID *string }
}

func newNode(t *testing.T, program ...string) *node {
	t.Helper()
	n := &node{t: t, lines: make(chan line, 1<<15), wrong: &bytes.Buffer{}, answers: map[int]line{}, streams: map[string]*stream{}, told: map[string]json.RawMessage{}}
	n.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), "node", program...)
	n.cmd.Stderr = n.wrong
	var err error
	n.in, err = n.cmd.StdinPipe()
	must(t, err)
	stdout, err := n.cmd.StdoutPipe()
	must(t, err)
	must(t, n.cmd.Start())
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
				l = line{Tell: "noise", Value: b}
			}
			n.lines <- l
		}
	}()
	t.Cleanup(func() {
		_ = n.in.Close() // it ends with its input
		end := time.AfterFunc(patience, func() { _ = n.cmd.Process.Kill() })
		for range n.lines {
		}
		<-done
		if err := n.cmd.Wait(); err != nil || !end.Stop() {
			t.Logf("%s: %v\n%s", program[0], err, n.wrong)
		}
	})
	return n
}

// kill ends it as a crash does.
func (n *node) kill() { _ = n.cmd.Process.Kill() }

// until reads until something is so.
func (n *node) until(what string, so func() bool) {
	n.t.Helper()
	late := time.After(patience)
	for !so() {
		select {
		case l, ok := <-n.lines:
			if !ok {
				n.t.Fatalf("it ended, and not %s\n%s", what, n.wrong)
			}
			n.take(l)
		case <-late:
			n.t.Fatalf("not %s\n%s\n%s", what, n.seen(), n.wrong)
		}
	}
}

func (n *node) take(l line) {
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
		n.told[l.Tell] = l.Value
	}
}

func (n *node) stream(name string) *stream {
	if n.streams[name] == nil {
		n.streams[name] = &stream{}
	}
	return n.streams[name]
}

// seen tells all that was.
func (n *node) seen() string {
	var b strings.Builder
	for name, s := range n.streams {
		b.WriteString(name + ": " + s.words() + " " + s.end + "\n")
	}
	for name, v := range n.told {
		b.WriteString(name + ": " + string(v) + "\n")
	}
	return b.String()
}

type args map[string]any

// begins has it do something; the answer comes later.
func (n *node) begins(verb string, a args) (id int) {
	n.t.Helper()
	n.last++
	all := map[string]any{"verb": verb, "id": n.last}
	for k, v := range a {
		all[k] = v
	}
	b, err := json.Marshal(all)
	must(n.t, err)
	_, err = n.in.Write(append(b, '\n'))
	must(n.t, err)
	return n.last
}

// wait returns an answer: a value, or an error as JSON.
func (n *node) wait(id int) (value, failure string) {
	n.t.Helper()
	n.until("answered", func() bool { _, ok := n.answers[id]; return ok })
	return string(n.answers[id].Value), string(n.answers[id].Error)
}

// does has it do something that succeeds.
func (n *node) does(verb string, a args) string {
	n.t.Helper()
	v, e := n.wait(n.begins(verb, a))
	if e != "" {
		n.t.Fatalf("%s: %s", verb, e)
	}
	return v
}

// link opens a connection.
func (n *node) link(name string) { n.t.Helper(); n.does("link", args{"link": name}) }

// opens a stream of a session; its first event has come when this returns.
func (n *node) opens(link, name, session string) *stream {
	n.t.Helper()
	return n.opensAs(link, name, session, "SubscribeSession")
}

// opensAs is opens with the request's name.
func (n *node) opensAs(link, name, session, tag string) *stream {
	n.t.Helper()
	n.does("open", args{"link": link, "stream": name, "session": session, "tag": tag})
	s := n.stream(name)
	n.until(name+" open", func() bool { return len(s.events) > 0 || s.end != "" })
	return s
}

// call makes a request that succeeds.
func (n *node) call(link, tag string, payload args) string {
	n.t.Helper()
	return n.does("call", args{"link": link, "tag": tag, "payload": payload})
}

// fails makes a request that does not.
func (n *node) fails(link, tag string, payload args) string {
	n.t.Helper()
	v, e := n.wait(n.begins("call", args{"link": link, "tag": tag, "payload": payload}))
	if e == "" {
		n.t.Errorf("%s succeeds: %s", tag, v)
	}
	return e
}

// sends a message in the document's words.
func (n *node) sends(link, session, text, clientMessageID string) string {
	n.t.Helper()
	return n.call(link, "SendMessage", args{"sessionId": session, "content": text, "clientMessageId": clientMessageID})
}

// first is the first event of a stream, the state.
func (s *stream) first() *sight { return s.events[0] }

// words are what a stream said, without deltas and what only our own client reads.
func (s *stream) words() string {
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
	return strings.Join(slices.Compact(list), " ") // a tool's output is told as it grows
}

// text is all that the agent said in a stream, from its buffer on.
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

// has returns a condition: an event of that tag came, n times.
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

// says returns a condition: the agent has said a text.
func (s *stream) says(text string) func() bool {
	return func() bool { return strings.Contains(s.text(), text) }
}
