package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// playStart is the time at which agentctl's client starts.
var playStart = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// settleTime is how long a client waits for its own timers, such as one that ends a silence.
const settleTime = 20 * time.Second

// PlayClient plays the frames of a conversation's server to agentctl's client and returns what a
// user sees, as text. It fails the test if the client does not send what the conversation's client
// sent.
func PlayClient(t testing.TB, d *Dialect, c *Conversation) string {
	t.Helper()
	p := &clientPlayer{t: t, dialect: d, conversation: c, ids: NewIDs(&d.Grammar), conns: map[int]*ClientConn{}}
	p.bodies = map[string]string{}
	for _, s := range c.Steps {
		if h := s.HTTP; h != nil && h.Method == http.MethodGet && !h.Upgrade && h.Status == http.StatusOK {
			p.bodies[h.Path] = h.Body
		}
	}
	for _, s := range c.Steps {
		p.play(s)
	}
	var b strings.Builder
	for i, n := range p.order {
		conn := p.conns[n]
		conn.advance(conn.now.Add(cmp.Or(d.Settle, settleTime)))
		if len(p.order) > 1 {
			fmt.Fprintf(&b, "## connection %d\n", i+1)
		}
		b.WriteString(conn.log.String())
		for _, id := range conn.order {
			writeSession(&b, conn.sessions[id])
		}
	}
	return b.String()
}

type clientPlayer struct {
	t            testing.TB
	dialect      *Dialect
	conversation *Conversation
	ids          *IDs
	conns        map[int]*ClientConn
	order        []int // of conns
	path         string
	bodies       map[string]string // answers to GET requests, by path
}

func (p *clientPlayer) play(s Step) {
	p.t.Helper()
	switch {
	case s.HTTP != nil && !s.HTTP.Upgrade:
	case s.HTTP != nil:
		p.path = s.HTTP.Path
	case s.Open:
		p.open(s)
	case s.Frame == nil || p.conns[s.Conn] == nil || p.conns[s.Conn].closed:
	case s.Direction == ToClient:
		conn := p.conns[s.Conn]
		conn.pass(s.MS)
		conn.carryOut(conn.codec.Foreign(conn.now, codec.Frame{Data: []byte(conn.ids.Rewrite(*s.Frame))}))
	default:
		conn := p.conns[s.Conn]
		conn.pass(s.MS)
		for _, m := range conn.splitRecorded(ToServer, decode(conn.ids.Rewrite(*s.Frame))) {
			if p.dialect.Cause(conn, m) {
				conn.expect(m)
			}
		}
	}
}

// open makes the client of a connection.
func (p *clientPlayer) open(s Step) {
	conn := &ClientConn{
		t: p.t, number: len(p.order) + 1, ids: p.ids.Of(s.Conn),
		splitRecorded: p.dialect.Split(), splitSent: p.dialect.Split(), Path: p.path,
		now: playStart.Add(time.Duration(s.MS) * time.Millisecond), ms: s.MS, answers: map[string]*protocol.Answer{},
		bodies: p.bodies, sessions: map[string]*view{}, resume: new(codec.ClientState),
		history: p.dialect.History, reply: p.dialect.Reply,
	}
	if last := len(p.order) - 1; last >= 0 && p.dialect.SameClient != nil && p.dialect.SameClient(p.conversation) {
		old := p.conns[p.order[last]]
		conn.resume, conn.sessions, conn.order = old.resume, old.sessions, old.order
		old.order = nil // shown once, at the end
	}
	p.conns[s.Conn], p.order = conn, append(p.order, s.Conn)
	count := 0
	conn.codec = p.dialect.Client(codec.ClientOptions{
		URL: "ws://server" + p.path, Name: "ada", Resume: conn.resume,
		ID: func(prefix string) string {
			count++
			return fmt.Sprintf("%s_own%dx%d", prefix, conn.number, count)
		},
	})
	conn.carryOut(conn.codec.Open(conn.now))
	conn.Do(protocol.DoHello, "", protocol.HelloData{Version: protocol.Version, Name: "ada"})
	p.dialect.Opened(conn)
}

// A ClientConn is a connection of agentctl's client, with the sessions that it subscribed to.
type ClientConn struct {
	Path     string // of the upgrade
	Restored string // the session that has another id at the server now; set by the dialect

	t             testing.TB
	number        int // of the connection
	ids           *IDs
	codec         codec.Codec
	resume        *codec.ClientState
	now, wake     time.Time
	ms            int // of the last step
	splitRecorded func(Direction, []any) []Message
	splitSent     func(Direction, []any) []Message
	reply         func(Message) string // of the dialect; nil: none
	sent          []Message            // by the client, not expected yet
	commands      int
	bodies        map[string]string // answers to HTTP requests, by path
	answers       map[string]*protocol.Answer
	sessions      map[string]*view
	order         []string // of sessions
	subscribed    []string
	log           strings.Builder
	quiet         bool // commands and answers are not logged
	closed        bool // by the client
	history       bool // a subscription loads it
}

// A view is what the client knows of a session.
type view struct {
	state      *protocol.State
	transcript protocol.Transcript
	last       protocol.Position
	again      bool // the client had another log of it
}

// Do gives a command. It returns the answer, or nil if there is none yet. An empty id means the
// first session, if the command is for one.
func (c *ClientConn) Do(verb protocol.Verb, id string, data any) *protocol.Answer {
	c.t.Helper()
	c.commands++
	command := protocol.Command{ID: strconv.Itoa(c.commands), Command: verb, Session: id}
	if id == "" && len(c.order) > 0 && protocol.CommandOf(verb).Session {
		command.Session = c.order[0]
	}
	if protocol.CommandOf(verb).Changes {
		command.Key = fmt.Sprintf("key%dx%s", c.number, command.ID)
	}
	if data != nil {
		command.Data = protocol.MustEncode(data)
	}
	if verb != protocol.DoHello && !c.quiet {
		fmt.Fprintf(&c.log, "> %s %s %.300s\n", command.ID, verb, command.Data)
	}
	c.carryOut(c.codec.Native(c.now, protocol.MustEncode(command)))
	return c.answers[command.ID]
}

// Subscribe subscribes to a session and follows it.
func (c *ClientConn) Subscribe(id string) {
	c.t.Helper()
	var data protocol.SubscribeData
	if s := c.sessions[id]; s != nil {
		data.Position = &s.last
	}
	c.subscribed = append(c.subscribed, id)
	c.Do(protocol.DoSubscribe, id, data)
}

// Await waits for the answer to the last command, which a codec may delay.
func (c *ClientConn) Await() {
	c.t.Helper()
	number := strconv.Itoa(c.commands)
	c.Advance(func() bool { return c.answers[number] != nil })
}

// LoadHistory completes the transcript of a session that the client joined again with the finished
// turns that it can have. An empty id means the first.
func (c *ClientConn) LoadHistory(id string) {
	c.t.Helper()
	if id == "" && len(c.order) > 0 {
		id = c.order[0]
	}
	s := c.sessions[id]
	if s == nil || !s.again {
		return
	}
	later := s.transcript.Turns
	s.transcript = protocol.Transcript{}
	c.readHistory(id, protocol.HistoryData{})
	s.transcript.Turns = append(s.transcript.Turns, later...)
}

// readHistory adds turns of the history to a session's transcript. It does not log the command.
func (c *ClientConn) readHistory(id string, d protocol.HistoryData) {
	c.t.Helper()
	c.quiet = true
	a := c.Do(protocol.DoHistory, id, d)
	c.quiet = false
	var page protocol.HistoryResult
	if a == nil || a.Error != nil || json.Unmarshal(a.Result, &page) != nil {
		c.t.Errorf("no history of %s: %+v", id, a)
		return
	}
	for _, line := range page.Events {
		var e protocol.Event
		if err := json.Unmarshal(line, &e); err != nil {
			c.t.Errorf("%v: %s", err, line)
		}
		if _, err := c.sessions[id].transcript.Apply(&e); err != nil {
			c.t.Errorf("%v: %s", err, line)
		}
	}
}

// Receive passes on a frame of the server that the conversation lacks, such as the answer to a
// message that its client did not send.
func (c *ClientConn) Receive(frame string) {
	c.t.Helper()
	c.carryOut(c.codec.Foreign(c.now, codec.Frame{Data: []byte(frame)}))
}

// Unsubscribe unsubscribes from a session and forgets it.
func (c *ClientConn) Unsubscribe(id string) {
	c.t.Helper()
	c.Do(protocol.DoUnsubscribe, id, nil)
	c.subscribed = slices.DeleteFunc(c.subscribed, func(s string) bool { return s == id })
}

// Subscribed reports whether the connection subscribed to a session.
func (c *ClientConn) Subscribed(id string) bool { return slices.Contains(c.subscribed, id) }

// Known reports whether agentctl's client sent an id in the place of a recorded one.
func (c *ClientConn) Known(recorded string) bool { return c.ids.Known(recorded) }

// State returns the state of a session, or nil. An empty id means the first.
func (c *ClientConn) State(id string) *protocol.State {
	if id == "" && len(c.order) > 0 {
		id = c.order[0]
	}
	if s := c.sessions[id]; s != nil {
		return s.state
	}
	return nil
}

// Sent reports whether the client sent a message of a type that no recorded one stands for yet.
func (c *ClientConn) Sent(typ string) bool {
	return slices.ContainsFunc(c.sent, func(m Message) bool { return m.Type == typ })
}

// Advance lets time pass until the condition holds, at most settleTime.
func (c *ClientConn) Advance(condition func() bool) bool {
	for end := c.now.Add(settleTime); !condition(); {
		if c.wake.IsZero() || c.wake.After(end) {
			return false
		}
		c.now = c.wake
		c.carryOut(c.codec.Wake(c.now))
	}
	return true
}

// pass lets the time between the last step and the one at ms pass.
func (c *ClientConn) pass(ms int) {
	c.advance(c.now.Add(time.Duration(max(0, ms-c.ms)) * time.Millisecond))
	c.ms = ms
}

// advance lets time pass until t.
func (c *ClientConn) advance(t time.Time) {
	for !c.wake.IsZero() && !c.wake.After(t) {
		c.now = c.wake
		c.carryOut(c.codec.Wake(c.now))
	}
	if t.After(c.now) {
		c.now = t
	}
}

// expect takes the message that the client sent in the place of a recorded one.
func (c *ClientConn) expect(m Message) {
	c.t.Helper()
	find := func() int { return slices.IndexFunc(c.sent, func(s Message) bool { return s.Type == m.Type }) }
	if !c.Advance(func() bool { return find() >= 0 }) {
		c.t.Errorf("the client did not send %s", m.Type)
		return
	}
	i := find()
	c.ids.Learn(m.Value, c.sent[i].Value)
	c.sent = slices.Delete(c.sent, i, i+1)
}

// carryOut takes the output of the codec.
func (c *ClientConn) carryOut(out codec.Output) {
	c.t.Helper()
	c.wake = out.Wake
	before := len(c.sent)
	for _, f := range out.Foreign {
		c.sent = append(c.sent, c.splitSent(ToServer, decode(string(f.Data)))...)
	}
	sent := slices.Clone(c.sent[before:])
	for _, line := range out.Native {
		e, a, err := protocol.DecodeIncoming(line)
		switch {
		case err != nil:
			c.t.Fatalf("%v: %s", err, line)
		case a != nil:
			c.takeAnswer(a)
		default:
			c.takeEvent(e)
		}
	}
	if out.Close != nil {
		fmt.Fprintf(&c.log, "closed: %d %s\n", out.Close.Code, out.Close.Reason)
		c.closed, c.wake = true, time.Time{}
	}
	if reader, ok := c.codec.(dialect.HTTPReader); ok {
		for _, path := range reader.Paths() {
			c.carryOut(reader.PathRead(c.now, path, []byte(c.bodies[path])))
		}
	}
	for _, m := range sent {
		if c.reply != nil && c.reply(m) != "" {
			c.Receive(c.reply(m))
		}
	}
}

func (c *ClientConn) takeAnswer(a *protocol.Answer) {
	c.answers[a.ID] = a
	var r protocol.SubscribeResult
	switch {
	case a.Error != nil:
		fmt.Fprintf(&c.log, "< %s %s: %s\n", a.ID, a.Error.Code, a.Error.Message)
		return
	case json.Unmarshal(a.Result, &r) == nil && r.Mode != "":
		fmt.Fprintf(&c.log, "< %s %s\n", a.ID, strings.TrimSpace(r.Mode+" "+r.Reason))
		if r.Snapshot != nil {
			again := c.sessions[r.Session] != nil
			if !again {
				c.order = append(c.order, r.Session)
			}
			c.sessions[r.Session] = &view{state: r.Snapshot.State, last: r.After, again: again}
			c.loadHistory(r.Session, r.After.Seq)
		}
		return
	case a.ID != "1" && !c.quiet: // hello
		fmt.Fprintf(&c.log, "< %s %.300s\n", a.ID, a.Result)
	}
}

// loadHistory adds the turns up to seq to a session's transcript, if the client can have them.
func (c *ClientConn) loadHistory(id string, seq uint64) {
	c.t.Helper()
	if !c.history || seq == 0 {
		return
	}
	c.readHistory(id, protocol.HistoryData{Before: seq + 1, Limit: 100})
}

func (c *ClientConn) takeEvent(e *protocol.Event) {
	c.t.Helper()
	s := c.sessions[e.Session]
	switch {
	case e.Type == protocol.CaughtUp:
	case !e.Durable():
		fmt.Fprintf(&c.log, "%s %s\n", e.Type, e.Data)
	case s == nil:
		c.t.Errorf("an event of session %q without a subscription", cmp.Or(e.Session, "none"))
	default:
		if err := s.state.Apply(e); err != nil {
			c.t.Errorf("%v: %s", err, protocol.MustEncode(e))
		}
		if _, err := s.transcript.Apply(e); err != nil {
			c.t.Errorf("%v: %s", err, protocol.MustEncode(e))
		}
		s.last.Seq = e.Seq
		if e.Turn == "" && e.Type != protocol.SessionCreated {
			fmt.Fprintf(&c.log, "%s %s\n", e.Type, e.Data)
		}
	}
}
