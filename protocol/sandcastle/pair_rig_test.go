package sandcastle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/historygen"
	"agentctl/internal/dev/sandcastletest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/client"
	"agentctl/protocol/sandcastle/server"
	"agentctl/protocol/sandcastle/wire"
)

// A codecPair connects a native client to a native server over both codecs.
type codecPair struct {
	*sandcastletest.NativeServer
	server        *server.Conn
	client        *client.Conn
	resume        *codec.ClientState
	lines         [][]byte // for the native client
	lastID        int
	now           time.Time
	closed        bool            // by the client codec
	open          map[string]bool // requests of the client without an exit
	noHTTPHistory bool            // the server has no history endpoint
}

func newCodecPair(t codectest.T, options map[string]string) *codecPair {
	l := &codecPair{NativeServer: sandcastletest.NewNativeServer(t), now: sandcastletest.Noon, resume: &codec.ClientState{}}
	l.dial(options)
	return l
}

// dial opens a connection.
func (l *codecPair) dial(options map[string]string) {
	l.server, l.closed, l.Following = server.New(codec.ServerOptions{}), false, false
	l.open = map[string]bool{}
	ids := 0
	mint := func(p string) string { ids++; return fmt.Sprint(p, "_", ids) }
	l.client = client.New(codec.ClientOptions{
		Name: "ada", Options: options, Resume: l.resume, ID: mint, PeerIsAgentctl: true,
	})
	l.deliverToServer(l.server.Open(l.now))
	l.deliverToClient(l.client.Open(l.now))
}

func (l *codecPair) deliverToServer(out codec.Output) {
	for _, f := range out.Foreign {
		for line := range bytes.Lines(f.Data) {
			var m wire.Message
			if json.Unmarshal(line, &m) == nil && codec.String(m.Tag) == wire.TagExit {
				id, _ := wire.RequestID(m.RequestID)
				delete(l.open, id)
			}
		}
		l.deliverToClient(l.client.Foreign(l.now, f))
	}
	for _, line := range out.Native {
		for _, back := range l.Handle(line) {
			l.deliverToServer(l.server.Native(l.now, back))
		}
	}
}

func (l *codecPair) deliverToClient(out codec.Output) {
	l.T.Helper()
	l.closed = l.closed || out.Close != nil
	for _, line := range out.Native {
		if e, a, err := protocol.DecodeIncoming(line); err != nil || e == nil && a == nil {
			l.T.Fatalf("not a native line: %s", line)
		}
		l.lines = append(l.lines, line)
	}
	for _, f := range out.Foreign {
		for line := range bytes.Lines(f.Data) {
			var m wire.Message
			if json.Unmarshal(line, &m) == nil && codec.String(m.Tag) == wire.TagRequest {
				id, _ := wire.RequestID(m.ID)
				l.open[id] = true
			}
		}
		l.deliverToServer(l.server.Foreign(l.now, f))
	}
	for _, path := range l.client.Paths() {
		var body []byte
		if path == "/api/sessions/s/messages" && !l.noHTTPHistory {
			past := &protocol.Transcript{}
			for i := range l.Events {
				_, _ = past.Apply(&l.Events[i])
			}
			body = server.Messages(past.Turns, "")
		}
		l.deliverToClient(l.client.PathRead(l.now, path, body))
	}
}

// breakStreams ends all requests with a defect: the server learns that the client interrupted them.
func (l *codecPair) breakStreams() {
	for _, id := range slices.Sorted(maps.Keys(l.open)) {
		for _, line := range l.server.Foreign(l.now, wire.TextFrame(protocol.MustEncode(wire.ControlMessage{Tag: wire.TagInterrupt, RequestID: id}))).Native {
			for _, back := range l.Handle(line) {
				l.deliverToServer(l.server.Native(l.now, back))
			}
		}
		delete(l.open, id)
		l.deliverToClient(l.client.Foreign(l.now, wire.TextFrame(wire.DefectExit(id, "boom"))))
	}
}

// command sends a command of the native client. Answers and events are in l.lines.
func (l *codecPair) command(verb protocol.Verb, session, key string, data any) *protocol.Answer {
	l.T.Helper()
	l.lastID++
	c := protocol.Command{ID: fmt.Sprint(l.lastID), Command: verb, Session: session, Key: key}
	if data != nil {
		c.Data = protocol.MustEncode(data)
	}
	from := len(l.lines)
	l.deliverToClient(l.client.Native(l.now, protocol.MustEncode(c)))
	for _, line := range l.lines[from:] {
		if _, a, _ := protocol.DecodeIncoming(line); a != nil && a.ID == c.ID {
			return a
		}
	}
	return nil
}

func (l *codecPair) emit() {
	for _, line := range l.NewLines() {
		l.deliverToServer(l.server.Native(l.now, line))
	}
}

// subscribe subscribes, and returns the events of earlier turns from history.
func (l *codecPair) subscribe() (past []json.RawMessage) {
	l.T.Helper()
	l.lines = nil
	a := l.command(protocol.DoSubscribe, "s", "", nil)
	if a == nil || a.Error != nil {
		l.T.Fatalf("subscribe: %+v", a)
	}
	for before := sandcastletest.DecodeResult[protocol.SubscribeResult](*a).After.Seq + 1; before > 1; {
		page := sandcastletest.DecodeResult[protocol.HistoryResult](*l.command(protocol.DoHistory, "s", "",
			protocol.HistoryData{Before: before, Limit: 100}))
		past = append(page.Events, past...)
		if before = page.First; !page.More {
			break
		}
	}
	return past
}

// clientView returns the state and transcript of the native client since it subscribed.
func (l *codecPair) clientView(past []json.RawMessage) (*protocol.State, *protocol.Transcript) {
	l.T.Helper()
	tr := &protocol.Transcript{Turns: turnsOf(past)}
	var s *protocol.State
	for _, line := range l.lines {
		e, a, _ := protocol.DecodeIncoming(line)
		if a != nil {
			if r := sandcastletest.DecodeResult[protocol.SubscribeResult](*a); r.Snapshot != nil && r.Mode != "" {
				s = r.Snapshot.State
			}
			continue
		}
		if err := s.Apply(e); err != nil {
			l.T.Fatalf("the client cannot apply %s: %v", line, err)
		}
		if _, err := tr.Apply(e); err != nil {
			l.T.Fatalf("the transcript cannot apply %s: %v", line, err)
		}
	}
	return s, tr
}

// turnsOf reduces the events of a history.
func turnsOf(events []json.RawMessage) []*protocol.Turn {
	var tr protocol.Transcript
	for _, line := range events {
		var e protocol.Event
		if json.Unmarshal(line, &e) == nil {
			_, _ = tr.Apply(&e)
		}
	}
	return tr.Turns
}

// diffContext returns the lines around the first difference.
func diffContext(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < min(len(g), len(w)) && g[i] == w[i] {
		i++
	}
	near := func(l []string) string { return strings.Join(l[max(0, i-12):min(len(l), i+6)], "\n") }
	return "got\n" + near(g) + "\nwant\n" + near(w)
}

// A sessionGenerator generates a random session.
type sessionGenerator struct {
	*sandcastletest.NativeServer
	*historygen.Generator
}

func newSessionGenerator(t *rapid.T, h *sandcastletest.NativeServer) *sessionGenerator {
	g := &sessionGenerator{h, &historygen.Generator{T: t, State: &protocol.State{}, Now: sandcastletest.Noon}}
	g.apply(codec.Entry{Type: protocol.SessionCreated, Data: protocol.SessionCreatedData{Agent: "a"}})
	return g
}

// step adds an event of any type. As on a server, the next message of an unblocked queue starts
// immediately.
func (g *sessionGenerator) step() {
	if m := g.State.NextQueued(); m != nil {
		next := *m
		next.QueuedAt = nil
		g.apply(codec.Entry{
			Type: protocol.QueueRemoved,
			Data: protocol.QueueRemovedData{MessageID: next.MessageID, Reason: protocol.RemovedStarted},
		})
		g.apply(codec.Entry{
			Type: protocol.MessageUser, Turn: fmt.Sprint("t", g.State.Seq),
			Data: protocol.MessageUserData{Message: next},
		})
	} else {
		g.apply(g.Next())
	}
	if t := g.State.Turn; t != nil && g.State.Seq == t.First { // one commit contains both
		g.apply(g.TurnStart())
	}
}

func (g *sessionGenerator) apply(en codec.Entry) {
	e := g.Append(en.Type, en.Turn, en.Data)
	e.Task, e.Parent, e.By = en.Task, en.Parent, en.By
	if err := g.State.Apply(e); err != nil {
		g.T.Fatal(err)
	}
}
