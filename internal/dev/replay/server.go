package replay

import (
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
)

// PlayServer plays the frames of a conversation's clients to agentctl's server, in virtual time,
// and waits for each awaited message in between. shapes are those of the real server. It fails the
// test if a message does not come or has another shape.
func PlayServer(t *testing.T, d *Dialect, c *Conversation, shapes *Shapes) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &ServerPlayer{
			T: t, Conversation: c, IDs: NewIDs(&d.Grammar), dialect: d, conns: map[int]*serverConn{},
			url: "ws://" + embedded.Host + "/dialect/" + d.Name,
		}
		defer p.close()
		d.Serve(p)
		before := 0
		for _, s := range c.Steps {
			time.Sleep(min(time.Duration(max(0, s.MS-before))*time.Millisecond, longestPause))
			before = s.MS
			if p.play(s, shapes); t.Failed() {
				return
			}
		}
		synctest.Wait()
		for _, conn := range p.conns {
			p.checkShapes(conn, shapes)
		}
	})
}

// A ServerPlayer plays a conversation to agentctl's server.
type ServerPlayer struct {
	T            *testing.T
	Conversation *Conversation
	IDs          *IDs
	Options      embedded.Options // for Start; Serve may change it before
	Server       *embedded.Server

	dialect *Dialect
	native  *wsclient.Client
	url     string
	conns   map[int]*serverConn
}

// Start starts the server with an agent that plays a script.
func (p *ServerPlayer) Start(lines string) {
	p.T.Helper()
	agent, err := script.Parse("agent", strings.NewReader(lines))
	if err != nil {
		p.T.Fatal(err)
	}
	p.Options.Agents, p.Options.DefaultAgent = oneAgent{agent}, "agent"
	if p.Options.Dir == "" {
		p.Options.Dir = p.T.TempDir()
	}
	if p.Server, err = embedded.Start(p.T.Context(), p.Options); err != nil {
		p.T.Fatal(err)
	}
	url := "ws://" + embedded.Host
	p.native = wsclient.New(url, wsclient.Options{Dial: p.Server.Dialer(url), Token: p.Options.Token})
}

// Create creates a session by the native protocol and returns its id.
func (p *ServerPlayer) Create(d protocol.CreateData) string {
	p.T.Helper()
	return p.Do(protocol.DoCreate, "", d).Session
}

// Do gives a native command, whose result may name a session.
func (p *ServerPlayer) Do(verb protocol.Verb, id string, data any) protocol.CreateResult {
	p.T.Helper()
	r, err := wsclient.Call[protocol.CreateResult](p.T.Context(), p.native, verb, id, data)
	if err != nil {
		p.T.Fatalf("%s: %v", verb, err)
	}
	return r
}

// Received returns the messages of a type that came from agentctl's server, by connection.
func (p *ServerPlayer) Received(typ string) (list []Message) {
	for _, n := range p.Conversation.Conns() {
		conn := p.conns[n]
		if conn == nil {
			continue
		}
		conn.mu.Lock()
		for _, m := range conn.received {
			if m.Type == typ {
				list = append(list, m.Message)
			}
		}
		conn.mu.Unlock()
	}
	return list
}

type oneAgent struct{ *script.Script }

func (oneAgent) Names() []string { return []string{"agent"} }

var _ session.Agents = oneAgent{}

// A serverConn is a connection of a conversation's client.
type serverConn struct {
	ws       *websocket.Conn
	recorded func(Direction, []any) []Message
	split    func(Direction, []any) []Message
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

func (p *ServerPlayer) play(s Step, shapes *Shapes) {
	p.T.Helper()
	conn := p.conns[s.Conn]
	switch {
	case s.HTTP != nil && !s.HTTP.Upgrade:
		p.exchange(s.HTTP, shapes)
	case s.HTTP != nil && s.HTTP.Upgrade:
		p.dial(s)
	case s.Frame != nil && s.Direction == ToServer:
		frame := p.IDs.Of(s.Conn).Rewrite(*s.Frame)
		if p.dialect.Prepare != nil {
			frame = p.dialect.Prepare(p, frame)
		}
		ack := false
		for _, m := range conn.recorded(ToServer, decode(*s.Frame)) {
			p.before(s, m)
			ack = p.dialect.IsAck != nil && p.dialect.IsAck(p.Conversation, m)
		}
		if ack {
			return
		}
		conn.mu.Lock()
		conn.split(ToServer, decode(frame))
		conn.mu.Unlock()
		if err := conn.ws.Write(p.T.Context(), websocket.MessageText, []byte(frame)); err != nil {
			p.T.Errorf("write %s: %v", frame, err)
		}
	case s.Frame != nil:
		for _, m := range conn.recorded(ToClient, decode(*s.Frame)) {
			p.before(s, m)
			if p.dialect.Awaited == nil || p.dialect.Awaited(p.Conversation, m) {
				p.await(conn, m, s)
			}
		}
	case s.Close != nil && s.Direction == ToServer:
		if s.Close.Code == 1006 {
			_ = conn.ws.CloseNow()
			return
		}
		_ = conn.ws.Close(websocket.StatusCode(s.Close.Code), s.Close.Reason)
	}
}

// before gives the dialect each recorded message before it is played.
func (p *ServerPlayer) before(s Step, m Message) {
	if p.dialect.Before != nil {
		p.dialect.Before(p, s, m)
	}
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
func (p *ServerPlayer) await(c *serverConn, recorded Message, s Step) {
	p.T.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		synctest.Wait()
		c.mu.Lock()
		i := slices.IndexFunc(c.received, func(m received) bool { return m.Type == recorded.Type && !m.taken })
		if i >= 0 {
			c.received[i].taken = true
			p.IDs.Of(s.Conn).Learn(recorded.Value, c.received[i].Value)
		}
		closed := c.closed
		c.mu.Unlock()
		switch {
		case i >= 0:
			return
		case closed != nil && !errors.Is(closed, io.EOF):
			p.T.Errorf("at %d ms: no %s before the end of the connection: %v", s.MS, recorded.Type, closed)
			return
		case time.Since(began) > awaitLimit:
			p.T.Errorf("at %d ms: the server did not send %s", s.MS, recorded.Type)
			return
		}
	}
}

// checkShapes compares all messages of a connection with the shapes of the real server.
func (p *ServerPlayer) checkShapes(c *serverConn, shapes *Shapes) {
	p.T.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.received {
		if !shapes.Knows(ToClient, m.Type) {
			if p.dialect.Own[m.Type] == "" {
				p.T.Errorf("the real server sends no %s: %s", m.Type, protocol.MustEncode(m.Value))
			}
			continue
		}
		for _, difference := range shapes.Check(ToClient, m.Message) {
			if p.dialect.Exceptions[difference] == "" {
				p.T.Errorf("%s\n  in %s", difference, protocol.MustEncode(m.Value))
			}
		}
	}
}

func (p *ServerPlayer) close() {
	for _, c := range p.conns {
		_ = c.ws.CloseNow()
		c.reading.Wait()
	}
	if p.native != nil {
		_ = p.native.Close()
	}
	if p.Server != nil {
		if err := p.Server.Close(); err != nil {
			p.T.Errorf("close: %v", err)
		}
	}
}
