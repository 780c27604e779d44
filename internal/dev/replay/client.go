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
	p := &clientPlayer{
		t: t, dialect: d, conversation: c, ids: NewIDs(&d.Grammar),
		conns: map[int]*clientConn{}, bodies: map[string]string{},
	}
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
	conns        map[int]*clientConn
	order        []int // of conns
	path         string
	bodies       map[string]string // answers to GET requests, by path
}

func (p *clientPlayer) play(s Step) {
	p.t.Helper()
	conn := p.conns[s.Conn]
	switch {
	case s.HTTP != nil && s.HTTP.Upgrade:
		p.path = s.HTTP.Path
	case s.Open:
		p.open(s)
	case s.Frame == nil || conn == nil || conn.closed:
	default:
		conn.advance(conn.now.Add(time.Duration(max(0, s.MS-conn.ms)) * time.Millisecond))
		conn.ms = s.MS
		frame := conn.ids.Rewrite(*s.Frame)
		if s.Direction == ToClient {
			conn.receive(frame)
			return
		}
		for _, m := range conn.splitRecorded(ToServer, decode(frame)) {
			if conn.cause(m) {
				conn.expect(m)
			}
		}
	}
}

// open makes the client of a connection.
func (p *clientPlayer) open(s Step) {
	c := &clientConn{
		clientPlayer: p, number: len(p.order) + 1, ids: p.ids.Of(s.Conn),
		splitRecorded: p.dialect.splitter(), splitSent: p.dialect.splitter(),
		now: playStart.Add(time.Duration(s.MS) * time.Millisecond), ms: s.MS, answers: map[string]*protocol.Answer{},
		sessions: map[string]*view{}, resume: new(codec.ClientState),
	}
	if len(p.order) > 0 && p.dialect.SameClient != nil && p.dialect.SameClient(p.conversation) {
		old := p.conns[p.order[len(p.order)-1]]
		c.resume, c.sessions, c.order = old.resume, old.sessions, old.order
		old.order = nil // shown once, at the end
	}
	p.conns[s.Conn], p.order = c, append(p.order, s.Conn)
	count := 0
	c.codec = p.dialect.Client(codec.ClientOptions{
		URL: "ws://server" + p.path, Name: "ada", Resume: c.resume,
		ID: func(prefix string) string {
			count++
			return fmt.Sprintf("%s_own%dx%d", prefix, c.number, count)
		},
	})
	c.carryOut(c.codec.Open(c.now))
	c.do(protocol.DoHello, "", protocol.HelloData{Version: protocol.Version, Name: "ada"})
	if id, _ := p.dialect.Opened.run(nil, facts{"$path": p.path}); id != nil {
		c.subscribe(id.(string))
		c.advanceUntil(func() bool { return c.lastAnswer() != nil }) // which a codec may delay
	}
}

// A clientConn is a connection of agentctl's client, with the sessions that it subscribed to.
type clientConn struct {
	*clientPlayer
	number        int // of the connection
	ids           *IDs
	codec         codec.Codec
	resume        *codec.ClientState
	now, wake     time.Time
	ms            int // of the last step
	splitRecorded splitter
	splitSent     splitter
	sent          []Message // by the client, not expected yet
	causing       string    // the type of the recorded message whose command is given
	commands      int
	answers       map[string]*protocol.Answer
	sessions      map[string]*view
	order         []string // of sessions
	subscribed    []string
	restored      string // the session that has another id at the server now
	log           strings.Builder
	quiet         bool // commands and answers are not logged
	closed        bool // by the client
}

// A view is what the client knows of a session.
type view struct {
	state      *protocol.State
	transcript protocol.Transcript
	last       protocol.Position
}

// cause makes the client send a message of the recorded client. It returns false if agentctl's
// client does not send it.
func (c *clientConn) cause(m Message) bool {
	c.t.Helper()
	c.causing = m.Type
	defer func() { c.causing = "" }()
	states, sent := map[string]*protocol.State{}, []string{}
	for id, s := range c.sessions {
		states[id] = s.state
	}
	for _, m := range c.sent {
		sent = append(sent, m.Type)
	}
	known := facts{
		"$states": states, "$restored": c.restored, "$subscribed": c.subscribed, "$commands": c.commands, "$sent": sent,
	}
	if len(c.order) > 0 {
		known["$first"] = c.order[0]
	}
	for _, row := range c.dialect.Commands {
		if !hasType(m.Type, row.Type) {
			continue
		}
		named, ok := cmp.Or(row.Session, c.dialect.Session).run(m.Value, known)
		id, _ := named.(string)
		if ok && c.dialect.Join && id != "" && c.sessions[id] == nil {
			c.subscribe(id)
			c.advanceUntil(func() bool { return c.sessions[id] != nil })
		}
		if s := c.session(id); s != nil {
			known["$state"] = s.state
		}
		data, given := row.Data.run(m.Value, known)
		if !ok || !given {
			continue
		}
		switch row.Verb {
		case "":
		case protocol.DoSubscribe:
			c.subscribe(id)
		case protocol.DoUnsubscribe:
			c.do(row.Verb, id, nil)
			c.subscribed = slices.DeleteFunc(c.subscribed, func(s string) bool { return s == id })
		default:
			c.do(row.Verb, id, row.typed(data))
			if a := c.lastAnswer(); row.Again != "" && a != nil && a.Error != nil {
				if data, given = row.Again.run(m.Value, known); given {
					c.do(row.Verb, id, row.typed(data))
				}
			}
		}
		return row.Expected == nil || row.Expected(c, m)
	}
	return false
}

// typed returns the result of a query as data of the command.
func (row *Command) typed(data any) any {
	if data == nil {
		return nil
	}
	d := protocol.CommandOf(row.Verb).Data()
	if err := json.Unmarshal(protocol.MustEncode(data), d); err != nil {
		panic(fmt.Errorf("%s of %s: %w", row.Verb, row.Type, err))
	}
	return d
}

// do gives a command. An empty id means the first session, if the command is for one.
func (c *clientConn) do(verb protocol.Verb, id string, data any) {
	c.t.Helper()
	c.commands++
	command := protocol.Command{ID: strconv.Itoa(c.commands), Command: verb, Session: id}
	of := protocol.CommandOf(verb)
	if id == "" && len(c.order) > 0 && of.Session {
		command.Session = c.order[0]
	}
	if of.Changes {
		command.Key = fmt.Sprintf("key%dx%s", c.number, command.ID)
	}
	if data != nil {
		command.Data = protocol.MustEncode(data)
	}
	if verb != protocol.DoHello && !c.quiet {
		fmt.Fprintf(&c.log, "> %s %s %.300s\n", command.ID, verb, command.Data)
	}
	c.carryOut(c.codec.Native(c.now, protocol.MustEncode(command)))
}

// lastAnswer returns the answer to the last command, or nil.
func (c *clientConn) lastAnswer() *protocol.Answer { return c.answers[strconv.Itoa(c.commands)] }

// session returns a session, or nil. An empty id means the first.
func (c *clientConn) session(id string) *view {
	if id == "" && len(c.order) > 0 {
		id = c.order[0]
	}
	return c.sessions[id]
}

// subscribe subscribes to a session, from where the client has it.
func (c *clientConn) subscribe(id string) {
	c.t.Helper()
	var data protocol.SubscribeData
	if s := c.sessions[id]; s != nil {
		data.Position, c.restored = &s.last, id
	}
	c.subscribed = append(c.subscribed, id)
	c.do(protocol.DoSubscribe, id, data)
}

// loadHistory adds the turns up to seq to a session's transcript.
func (c *clientConn) loadHistory(id string, seq uint64) {
	c.t.Helper()
	if !c.dialect.History || seq == 0 {
		return
	}
	c.quiet = true
	c.do(protocol.DoHistory, id, protocol.HistoryData{Before: seq + 1, Limit: 100})
	c.quiet = false
	a := c.lastAnswer()
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

// hasSent reports whether the client sent a message of a type that no recorded one stands for yet.
func (c *clientConn) hasSent(typ string) bool {
	return slices.ContainsFunc(c.sent, func(m Message) bool { return m.Type == typ })
}

// advanceUntil lets time pass until the condition holds, at most settleTime.
func (c *clientConn) advanceUntil(condition func() bool) bool {
	for end := c.now.Add(settleTime); !condition(); {
		if c.wake.IsZero() || c.wake.After(end) {
			return false
		}
		c.now = c.wake
		c.carryOut(c.codec.Wake(c.now))
	}
	return true
}

// advance lets time pass until t.
func (c *clientConn) advance(t time.Time) {
	for !c.wake.IsZero() && !c.wake.After(t) {
		c.now = c.wake
		c.carryOut(c.codec.Wake(c.now))
	}
	if t.After(c.now) {
		c.now = t
	}
}

// expect takes the message that the client sent in the place of a recorded one.
func (c *clientConn) expect(m Message) {
	c.t.Helper()
	if !c.advanceUntil(func() bool { return c.hasSent(m.Type) }) {
		c.t.Errorf("the client did not send %s", m.Type)
		return
	}
	i := slices.IndexFunc(c.sent, func(s Message) bool { return s.Type == m.Type })
	c.ids.Learn(m.Value, c.sent[i].Value)
	c.sent = slices.Delete(c.sent, i, i+1)
}

// receive passes on a frame of the server.
func (c *clientConn) receive(frame string) {
	c.t.Helper()
	c.carryOut(c.codec.Foreign(c.now, codec.Frame{Data: []byte(frame)}))
}

// carryOut takes the output of the codec.
func (c *clientConn) carryOut(out codec.Output) {
	c.t.Helper()
	c.wake = out.Wake
	var sent []Message
	for _, f := range out.Foreign {
		sent = append(sent, c.splitSent(ToServer, decode(string(f.Data)))...)
	}
	c.sent = append(c.sent, sent...)
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
		if reply := c.dialect.Replies[m.Type]; reply != "" && m.Type != c.causing {
			c.receive(reply)
		}
	}
}

func (c *clientConn) takeAnswer(a *protocol.Answer) {
	c.t.Helper()
	c.answers[a.ID] = a
	var r protocol.SubscribeResult
	switch {
	case a.Error != nil:
		fmt.Fprintf(&c.log, "< %s %s: %s\n", a.ID, a.Error.Code, a.Error.Message)
	case json.Unmarshal(a.Result, &r) == nil && r.Mode != "":
		fmt.Fprintf(&c.log, "< %s %s\n", a.ID, strings.TrimSpace(r.Mode+" "+r.Reason))
		if r.Snapshot == nil {
			return
		}
		if c.sessions[r.Session] == nil {
			c.order = append(c.order, r.Session)
		}
		c.sessions[r.Session] = &view{state: r.Snapshot.State, last: r.After}
		c.loadHistory(r.Session, r.After.Seq)
	case a.ID != "1" && !c.quiet: // not of hello
		fmt.Fprintf(&c.log, "< %s %.300s\n", a.ID, a.Result)
	}
}

func (c *clientConn) takeEvent(e *protocol.Event) {
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
