package sandcastle

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/dev/historygen"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A codecPair connects a native client to a native server over both codecs.
type codecPair struct {
	*nativeServer
	server        *server
	client        *client
	resume        *codec.ClientState
	lines         [][]byte // for the native client
	lastID        int
	now           time.Time
	closed        bool // by the client codec
	noHTTPHistory bool // the server has no history endpoint
}

func newCodecPair(t testingT, options map[string]string) *codecPair {
	l := &codecPair{nativeServer: newNativeServer(t), now: noon, resume: &codec.ClientState{}}
	l.dial(options)
	return l
}

// dial opens a connection.
func (l *codecPair) dial(options map[string]string) {
	l.server, l.closed, l.following = newServer(codec.ServerOptions{}), false, false
	ids := 0
	mint := func(p string) string { ids++; return fmt.Sprint(p, "_", ids) }
	l.client = newClient(codec.ClientOptions{
		Name: "ada", Options: options, Resume: l.resume, ID: mint, PeerIsAgentctl: true,
	})
	l.deliverToServer(l.server.Open(l.now))
	l.deliverToClient(l.client.Open(l.now))
}

func (l *codecPair) deliverToServer(out codec.Output) {
	for _, f := range out.Foreign {
		l.deliverToClient(l.client.Foreign(l.now, f))
	}
	for _, line := range out.Native {
		for _, back := range l.handle(line) {
			l.deliverToServer(l.server.Native(l.now, back))
		}
	}
}

func (l *codecPair) deliverToClient(out codec.Output) {
	l.t.Helper()
	l.closed = l.closed || out.Close != nil
	for _, line := range out.Native {
		if e, a, err := protocol.DecodeIncoming(line); err != nil || e == nil && a == nil {
			l.t.Fatalf("not a native line: %s", line)
		}
		l.lines = append(l.lines, line)
	}
	for _, f := range out.Foreign {
		l.deliverToServer(l.server.Foreign(l.now, f))
	}
	for _, path := range l.client.Paths() {
		var body []byte
		if path == "/api/sessions/s/messages" && !l.noHTTPHistory {
			past := &protocol.Transcript{}
			for i := range l.events {
				_, _ = past.Apply(&l.events[i])
			}
			body = Messages(past.Turns, "")
		}
		l.deliverToClient(l.client.PathRead(l.now, path, body))
	}
}

// command sends a command of the native client. Answers and events are in l.lines.
func (l *codecPair) command(verb protocol.Verb, session, key string, data any) *protocol.Answer {
	l.t.Helper()
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
	for _, line := range l.newLines() {
		l.deliverToServer(l.server.Native(l.now, line))
	}
}

// subscribe subscribes, and returns the events of earlier turns from history.
func (l *codecPair) subscribe() (past []json.RawMessage) {
	l.t.Helper()
	l.lines = nil
	a := l.command(protocol.DoSubscribe, "s", "", nil)
	if a == nil || a.Error != nil {
		l.t.Fatalf("subscribe: %+v", a)
	}
	for before := decodeResult[protocol.SubscribeResult](*a).After.Seq + 1; before > 1; {
		page := decodeResult[protocol.HistoryResult](*l.command(protocol.DoHistory, "s", "",
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
	l.t.Helper()
	tr := &protocol.Transcript{Turns: turnsFromEvents(past)}
	var s *protocol.State
	for _, line := range l.lines {
		e, a, _ := protocol.DecodeIncoming(line)
		if a != nil {
			if r := decodeResult[protocol.SubscribeResult](*a); r.Snapshot != nil && r.Mode != "" {
				s = r.Snapshot.State
			}
			continue
		}
		if err := s.Apply(e); err != nil {
			l.t.Fatalf("the client cannot apply %s: %v", line, err)
		}
		if _, err := tr.Apply(e); err != nil {
			l.t.Fatalf("the transcript cannot apply %s: %v", line, err)
		}
	}
	return s, tr
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
	*nativeServer
	*historygen.Generator
}

func newSessionGenerator(t *rapid.T, h *nativeServer) *sessionGenerator {
	g := &sessionGenerator{h, &historygen.Generator{T: t, State: &protocol.State{}, Now: noon}}
	g.apply(codec.Entry{Type: protocol.SessionCreated, Data: protocol.SessionCreatedData{Agent: "a"}})
	return g
}

// step adds an event of any type. As on a server, the next message of an unblocked queue starts at
// once.
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
	e := g.append(en.Type, en.Turn, en.Data)
	e.Task, e.Parent, e.By = en.Task, en.Parent, en.By
	if err := g.State.Apply(e); err != nil {
		g.T.Fatal(err)
	}
}
