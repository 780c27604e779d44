package sandcastle

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/historygen"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A link is both codecs back to back: a native client, the client codec, the server codec, a native server.
type link struct {
	*host
	server *Server
	client *Client
	memory *codec.ClientState
	lines  [][]byte // for the native client
	last   int
	now    time.Time
	closed bool // as the client codec wanted
	silent bool // there is no history endpoint
}

func newLink(t fataler, options map[string]string) *link {
	l := &link{host: newHost(t), now: noon, memory: &codec.ClientState{}}
	l.dial(options)
	return l
}

// dial begins a connection.
func (l *link) dial(options map[string]string) {
	l.server, l.closed, l.following = NewServer(codec.ServerOptions{}), false, false
	ids := 0
	mint := func(p string) string { ids++; return fmt.Sprint(p, "_", ids) }
	l.client = NewClient(codec.ClientOptions{Name: "ada", Options: options, Resume: l.memory, ID: mint})
	l.atServer(l.server.Open(l.now))
	l.atClient(l.client.Open(l.now))
}

func (l *link) atServer(out codec.Output) {
	for _, f := range out.Foreign {
		l.atClient(l.client.Foreign(l.now, f))
	}
	for _, line := range out.Native {
		for _, back := range l.take(line) {
			l.atServer(l.server.Native(l.now, back))
		}
	}
}

func (l *link) atClient(out codec.Output) {
	l.t.Helper()
	l.closed = l.closed || out.Close != nil
	for _, line := range out.Native {
		if e, a, err := protocol.DecodeIncoming(line); err != nil || e == nil && a == nil {
			l.t.Fatalf("not a line of ours: %s", line)
		}
		l.lines = append(l.lines, line)
	}
	for _, f := range out.Foreign {
		l.atServer(l.server.Foreign(l.now, f))
	}
	for _, path := range l.client.Paths() {
		var body []byte
		if path == "/api/sessions/s/messages" && !l.silent {
			past := &protocol.Transcript{}
			for i := range l.events {
				_, _ = past.Apply(&l.events[i])
			}
			body = Messages(past.Turns, "")
		}
		l.atClient(l.client.PathRead(l.now, path, body))
	}
}

// does sends a command of the native client; the answers and events are in l.lines.
func (l *link) does(verb protocol.Verb, session, key string, data any) *protocol.Answer {
	l.t.Helper()
	l.last++
	c := protocol.Command{ID: fmt.Sprint(l.last), Command: verb, Session: session, Key: key}
	if data != nil {
		c.Data = protocol.MustEncode(data)
	}
	from := len(l.lines)
	l.atClient(l.client.Native(l.now, protocol.MustEncode(c)))
	for _, line := range l.lines[from:] {
		if _, a, _ := protocol.DecodeIncoming(line); a != nil && a.ID == c.ID {
			return a
		}
	}
	return nil
}

func (l *link) happens() {
	for _, line := range l.news() {
		l.atServer(l.server.Native(l.now, line))
	}
}

// joins subscribes, and returns the turns before as history tells them.
func (l *link) joins() (past []json.RawMessage) {
	l.t.Helper()
	l.lines = nil
	a := l.does(protocol.DoSubscribe, "s", "", nil)
	if a == nil || a.Error != nil {
		l.t.Fatalf("subscribe: %+v", a)
	}
	for before := result[protocol.SubscribeResult](*a).After.Seq + 1; before > 1; {
		page := result[protocol.HistoryResult](*l.does(protocol.DoHistory, "s", "", protocol.HistoryData{Before: before, Limit: 100}))
		past = append(page.Events, past...)
		if before = page.First; !page.More {
			break
		}
	}
	return past
}

// seen folds what the native client got since it joined.
func (l *link) seen(past []json.RawMessage) (*protocol.State, *protocol.Transcript) {
	l.t.Helper()
	tr := &protocol.Transcript{Turns: turnsOf(past)}
	var s *protocol.State
	for _, line := range l.lines {
		e, a, _ := protocol.DecodeIncoming(line)
		if a != nil {
			if r := result[protocol.SubscribeResult](*a); r.Snapshot != nil && r.Mode != "" {
				s = r.Snapshot.State
			}
			continue
		}
		if err := s.Apply(e); err != nil {
			l.t.Fatalf("the client cannot fold %s: %v", line, err)
		}
		if _, err := tr.Apply(e); err != nil {
			l.t.Fatalf("the client cannot tell %s: %v", line, err)
		}
	}
	return s, tr
}

// apart shows where two texts part.
func apart(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < min(len(g), len(w)) && g[i] == w[i] {
		i++
	}
	near := func(l []string) string { return strings.Join(l[max(0, i-12):min(len(l), i+6)], "\n") }
	return "got\n" + near(g) + "\nwant\n" + near(w)
}

// A teller makes up a session.
type teller struct {
	*host
	*historygen.Generator
}

func newTeller(t *rapid.T, h *host) *teller {
	g := &teller{h, &historygen.Generator{T: t, State: &protocol.State{}, Now: noon}}
	g.keep(codec.Entry{Type: protocol.SessionCreated, Data: protocol.SessionCreatedData{Agent: "a"}})
	return g
}

// step adds an event of any type. One message of a queue that nothing holds starts as soon as it can, as a server has it.
func (g *teller) step() {
	if m := g.State.NextQueued(); m != nil {
		next := *m
		next.QueuedAt = nil
		g.keep(codec.Entry{Type: protocol.QueueRemoved, Data: protocol.QueueRemovedData{MessageID: next.MessageID, Reason: protocol.RemovedStarted}})
		g.keep(codec.Entry{Type: protocol.MessageUser, Turn: fmt.Sprint("t", g.State.Seq), Data: protocol.MessageUserData{Message: next}})
	} else {
		g.keep(g.Next())
	}
	if t := g.State.Turn; t != nil && g.State.Seq == t.First { // both are one commit: nobody comes in between
		g.keep(g.TurnStart())
	}
}

func (g *teller) keep(en codec.Entry) {
	e := g.add(en.Type, en.Turn, en.Data)
	e.Task, e.Parent, e.By = en.Task, en.Parent, en.By
	if err := g.State.Apply(e); err != nil {
		g.T.Fatal(err)
	}
}
