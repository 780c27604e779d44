package replay

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
	"agentctl/server/agent/script"
	"agentctl/server/embedded"
	"agentctl/server/session"
	"agentctl/wsclient"
)

const (
	// awaitLimit bounds the wait for a message of agentctl's server, in virtual time.
	awaitLimit = 10 * time.Minute
	// longestPause bounds the pause before a message of a client.
	longestPause = 2 * time.Second

	serverURL = "ws://" + embedded.Host
)

// PlayServer plays the frames of a conversation's clients to agentctl's server, in virtual time,
// and waits for each awaited message in between. shapes are the shapes of the real server. It fails
// the test if a message does not come or has another shape.
func PlayServer(t *testing.T, d *Dialect, c *Conversation, shapes *Shapes) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &serverPlayer{
			T: t, dialect: d, conversation: c, shapes: shapes, ids: NewIDs(&d.Grammar), conns: map[int]*serverConn{},
			facts: facts{"$scenario": c.Scenario, "$conns": len(c.Conns())},
		}
		defer p.close()
		p.start()
		before := 0
		for _, s := range c.Steps {
			time.Sleep(min(time.Duration(max(0, s.MS-before))*time.Millisecond, longestPause))
			before = s.MS
			if p.play(s); t.Failed() {
				return
			}
		}
		synctest.Wait()
		for _, conn := range p.conns {
			conn.mu.Lock()
			for _, m := range conn.received {
				p.checkShape(ToClient, m.Message)
			}
			conn.mu.Unlock()
		}
	})
}

// A serverPlayer plays a conversation to agentctl's server.
type serverPlayer struct {
	*testing.T
	dialect      *Dialect
	conversation *Conversation
	shapes       *Shapes
	ids          *IDs
	facts        facts
	unsent       func(Message) bool // of the dialect for the conversation; nil: none
	server       *embedded.Server
	native       *wsclient.Client
	conns        map[int]*serverConn
}

// start starts the server with an agent that plays a script, and its sessions.
func (p *serverPlayer) start() {
	p.Helper()
	lines, c := p.dialect.Script, p.conversation
	if p.dialect.Scripted != nil {
		lines = p.dialect.Scripted(c)
	}
	if p.dialect.UnsentIn != nil {
		p.unsent = p.dialect.UnsentIn(c)
	}
	var requests []any
	for _, s := range c.Steps {
		if s.Frame != nil && s.Direction == ToServer {
			requests = append(requests, decode(*s.Frame)...)
		}
	}
	p.facts["$requests"] = requests
	agent, err := script.Parse("agent", strings.NewReader(lines))
	options := embedded.Options{Agents: oneAgent{agent}, DefaultAgent: "agent", Dir: p.TempDir()}
	if p.dialect.Options != nil {
		err = errors.Join(err, p.dialect.Options(&options))
	}
	if err != nil {
		p.Fatal(err)
	}
	if p.server, err = embedded.Start(p.Context(), options); err != nil {
		p.Fatal(err)
	}
	p.native = wsclient.New(serverURL, wsclient.Options{Dial: p.server.Dialer(serverURL), Token: options.Token})
	names, _ := p.dialect.Sessions.run(nil, p.facts)
	for _, name := range textsAt(names) {
		p.ids.Set(name, p.do(protocol.DoCreate, "", protocol.CreateData{Name: name}).Session)
	}
}

// do gives a native command, whose result may name a session.
func (p *serverPlayer) do(verb protocol.Verb, id string, data any) protocol.CreateResult {
	p.Helper()
	r, err := wsclient.Call[protocol.CreateResult](p.Context(), p.native, verb, id, data)
	if err != nil {
		p.Fatalf("%s: %v", verb, err)
	}
	return r
}

// received returns the messages of a type that came from agentctl's server, by connection.
func (p *serverPlayer) received(typ string) (list []Message) {
	for _, n := range p.conversation.Conns() {
		if conn := p.conns[n]; conn != nil {
			conn.mu.Lock()
			for _, m := range conn.received {
				if m.Type == typ {
					list = append(list, m.Message)
				}
			}
			conn.mu.Unlock()
		}
	}
	return list
}

type oneAgent struct{ *script.Script }

func (oneAgent) Names() []string { return []string{"agent"} }

var _ session.Agents = oneAgent{}

// A serverConn is a connection of a conversation's client.
type serverConn struct {
	ws       *websocket.Conn
	recorded splitter
	split    splitter
	ack      func(Message) string // nil: recorded acknowledgements are played
	reading  sync.WaitGroup

	mu       sync.Mutex
	received []received
	closed   error
}

// A received message came from agentctl's server.
type received struct {
	Message
	taken bool // it stands for a recorded message
}

func (p *serverPlayer) play(s Step) {
	p.Helper()
	conn := p.conns[s.Conn]
	switch {
	case s.HTTP != nil && s.HTTP.Upgrade:
		p.dial(s)
	case s.HTTP != nil:
		p.exchange(s.HTTP)
	case s.Frame != nil && s.Direction == ToServer:
		frame := p.ids.Of(s.Conn).Rewrite(*s.Frame)
		if p.dialect.Prepare != nil {
			frame = p.dialect.Prepare(p, frame)
		}
		ack := false
		for _, m := range conn.recorded(ToServer, decode(*s.Frame)) {
			p.playBeside(m)
			ack = conn.ack != nil && m.Type == "Ack"
		}
		if ack {
			return
		}
		conn.mu.Lock()
		conn.split(ToServer, decode(frame))
		conn.mu.Unlock()
		if err := conn.ws.Write(p.Context(), websocket.MessageText, []byte(frame)); err != nil {
			p.Errorf("write %s: %v", frame, err)
		}
	case s.Frame != nil:
		for _, m := range conn.recorded(ToClient, decode(*s.Frame)) {
			p.playBeside(m)
			if p.awaits(m) {
				p.await(conn, m, s)
			}
		}
	case s.Close != nil && s.Direction == ToServer && s.Close.Code == 1006:
		_ = conn.ws.CloseNow()
	case s.Close != nil && s.Direction == ToServer:
		_ = conn.ws.Close(websocket.StatusCode(s.Close.Code), s.Close.Reason)
	}
}

// playBeside gives the command that the dialect has for a recorded message, if its session exists.
func (p *serverPlayer) playBeside(m Message) {
	p.Helper()
	for _, row := range p.dialect.Beside {
		if !hasType(m.Type, row.Type) {
			continue
		}
		id, _ := cmp.Or(row.Session, p.dialect.Session).run(m.Value, p.facts)
		if recorded, _ := id.(string); p.ids.Known(recorded) {
			data, _ := row.Data.run(m.Value, p.facts)
			p.do(row.Verb, p.ids.Get(recorded), row.typed(data))
		}
	}
}

// awaits reports whether agentctl's server must send a message of a recorded server too.
func (p *serverPlayer) awaits(m Message) bool {
	p.facts["$type"] = m.Type
	for _, row := range p.dialect.Unsent {
		if strings.HasPrefix(m.Type, row.Type) {
			if v, _ := row.If.run(m.Value, p.facts); row.If == "" || v != nil && v != false {
				return false
			}
		}
	}
	return p.unsent == nil || !p.unsent(m)
}

func (c *serverConn) read(ctx context.Context) {
	for {
		_, data, err := c.ws.Read(ctx)
		c.mu.Lock()
		if err != nil {
			c.closed = err
			c.mu.Unlock()
			return
		}
		acks := ""
		for _, m := range c.split(ToClient, decode(string(data))) {
			c.received = append(c.received, received{Message: m})
			if c.ack != nil {
				acks += c.ack(m)
			}
		}
		c.mu.Unlock()
		if acks != "" {
			_ = c.ws.Write(ctx, websocket.MessageText, []byte(acks)) // else the next read fails
		}
	}
}

// await waits for the message that stands for a recorded one: the next one of its type.
func (p *serverPlayer) await(c *serverConn, recorded Message, s Step) {
	p.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		synctest.Wait()
		c.mu.Lock()
		i := slices.IndexFunc(c.received, func(m received) bool { return m.Type == recorded.Type && !m.taken })
		if i >= 0 {
			c.received[i].taken = true
			p.ids.Of(s.Conn).Learn(recorded.Value, c.received[i].Value)
		}
		closed := c.closed
		c.mu.Unlock()
		switch {
		case i >= 0:
			return
		case closed != nil && !errors.Is(closed, io.EOF):
			p.Errorf("at %d ms: no %s before the end of the connection: %v", s.MS, recorded.Type, closed)
			return
		case time.Since(began) > awaitLimit:
			p.Errorf("at %d ms: the server did not send %s", s.MS, recorded.Type)
			return
		}
	}
}

// checkShape compares a message of agentctl's server with the shapes of the real server's.
func (p *serverPlayer) checkShape(d Direction, m Message) {
	p.Helper()
	if d == ToClient && !p.shapes.Knows(d, m.Type) {
		if p.dialect.Own[m.Type] == "" {
			p.Errorf("the real server sends no %s: %s", m.Type, protocol.MustEncode(m.Value))
		}
		return
	}
	for _, difference := range p.shapes.Check(d, m) {
		if p.dialect.Exceptions[difference] == "" {
			p.Errorf("%s\n  in %s", difference, protocol.MustEncode(m.Value))
		}
	}
}

func (p *serverPlayer) close() {
	for _, c := range p.conns {
		_ = c.ws.CloseNow()
		c.reading.Wait()
	}
	if p.native != nil {
		_ = p.native.Close()
	}
	if p.server != nil {
		if err := p.server.Close(); err != nil {
			p.Errorf("close: %v", err)
		}
	}
}
