package wsclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"agentctl/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fake is a server on an in-memory listener, whose connections the test itself drives.
type fake struct {
	t        testing.TB
	accepted chan net.Conn
	peers    chan *peer
	server   *http.Server
	closed   chan struct{}

	mu     sync.Mutex
	dials  []time.Time
	down   error            // what dialing fails with
	refuse http.HandlerFunc // instead of accepting
}

// inBubble runs a test against a fake server with a clock of its own.
func inBubble(t *testing.T, o Options, test func(t *testing.T, f *fake, c *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t)
		defer f.close()
		c := f.client(o)
		defer c.Close()
		test(t, f, c)
	})
}

func newFake(t testing.TB) *fake {
	f := &fake{t: t, accepted: make(chan net.Conn), peers: make(chan *peer, 16), closed: make(chan struct{})}
	f.server = &http.Server{Handler: f}
	go func() { _ = f.server.Serve(f) }()
	return f
}

func (f *fake) client(o Options) *Client {
	o.Dial = f.dial
	if o.Rand == nil {
		o.Rand = func() float64 { return 0 }
	}
	return New("ws://server", o)
}

func (f *fake) close() { _ = f.server.Close() }

func (f *fake) dial(ctx context.Context) (net.Conn, error) {
	f.mu.Lock()
	f.dials = append(f.dials, time.Now())
	down := f.down
	f.mu.Unlock()
	if down != nil {
		return nil, down
	}
	ours, theirs := net.Pipe()
	select {
	case f.accepted <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var errDown = errors.New("connection refused")

func (f *fake) setDown(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = err
}

func (f *fake) setRefuse(h http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = h
}

func (f *fake) dialed() []time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]time.Time(nil), f.dials...)
}

// The listener of the server.

func (f *fake) Accept() (net.Conn, error) {
	select {
	case c := <-f.accepted:
		return c, nil
	case <-f.closed:
		return nil, net.ErrClosed
	}
}

func (f *fake) Close() error   { close(f.closed); return nil }
func (f *fake) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	refuse := f.refuse
	f.mu.Unlock()
	if refuse != nil {
		refuse(w, r)
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{protocol.Subprotocol}})
	if err != nil {
		f.t.Error(err)
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(protocol.MaxMessage)
	p := &peer{t: f.t, conn: conn, request: r, commands: make(chan protocol.Command, 1<<16), acks: make(chan protocol.Command, 1<<16)}
	f.peers <- p
	p.read()
}

// A peer is the server's end of one connection. It reads by itself and answers pings.
type peer struct {
	t        testing.TB
	conn     *websocket.Conn
	request  *http.Request
	mute     bool // answers no pings; set before they come
	window   int64
	commands chan protocol.Command // closed at the end
	acks     chan protocol.Command
	bytes    int64 // of the largest message
}

func (p *peer) read() {
	defer close(p.commands)
	for {
		_, message, err := p.conn.Read(context.Background())
		if err != nil {
			return
		}
		p.bytes = max(p.bytes, int64(len(message)))
		for line := range protocol.Lines(message) {
			c, err := protocol.DecodeCommand(line)
			switch {
			case err != nil:
				p.t.Errorf("the client sent %s: %v", line, err)
			case c.Command == protocol.DoAck:
				p.acks <- c
			case c.Command == protocol.DoPing && !p.mute:
				p.answer(c, protocol.Empty{})
			default:
				p.commands <- c
			}
		}
	}
}

// peer waits for the next connection, before hello.
func (f *fake) peer() *peer {
	f.t.Helper()
	select {
	case p := <-f.peers:
		return p
	case <-time.After(time.Minute):
		f.t.Fatal("no connection came")
		return nil
	}
}

// open waits for the next connection and answers its hello, with a window when it asks for acks.
func (f *fake) open() *peer {
	f.t.Helper()
	p := f.peer()
	p.greet()
	return p
}

func (p *peer) greet() {
	p.t.Helper()
	hello := p.next(protocol.DoHello)
	var d protocol.HelloData
	if err := hello.DecodeData(&d); err != nil {
		p.t.Fatal(err)
	}
	r := protocol.HelloResult{Version: protocol.Version, Server: "fake", Connection: "c1", Limits: protocol.Limits{Message: protocol.MaxMessage}}
	if d.Acks {
		if r.Window = d.Window; r.Window == 0 {
			r.Window = protocol.DefaultWindow
		}
	}
	p.answer(hello, r)
}

// next waits for the next command that is no ack; it must have that verb.
func (p *peer) next(verb protocol.Verb) protocol.Command {
	p.t.Helper()
	select {
	case c, ok := <-p.commands:
		if !ok || c.Command != verb {
			p.t.Fatalf("the client sent %q (%t), want %q", c.Command, ok, verb)
		}
		return c
	case <-time.After(time.Minute):
		p.t.Fatalf("the client sent no %q", verb)
		return protocol.Command{}
	}
}

// nothing fails if a command came.
func (p *peer) nothing() {
	p.t.Helper()
	synctest.Wait()
	select {
	case c, ok := <-p.commands:
		if ok {
			p.t.Fatalf("the client sent %q", c.Command)
		}
	default:
	}
}

// acked returns the newest seq acknowledged until now and how many acks told it.
func (p *peer) acked() (seq uint64, n int) {
	p.t.Helper()
	synctest.Wait()
	for {
		select {
		case c := <-p.acks:
			var d protocol.AckData
			if err := c.DecodeData(&d); err != nil {
				p.t.Fatal(err)
			}
			if d.Seq <= seq {
				p.t.Errorf("ack %d after %d", d.Seq, seq)
			}
			seq = d.Seq
			n++
		default:
			return seq, n
		}
	}
}

// ended waits until the client's end is closed.
func (p *peer) ended() {
	p.t.Helper()
	select {
	case c, ok := <-p.commands:
		if ok {
			p.t.Fatalf("the client sent %q instead of closing", c.Command)
		}
	case <-time.After(time.Minute):
		p.t.Fatal("the client did not close")
	}
}

func (p *peer) say(message string) {
	if err := p.conn.Write(context.Background(), websocket.MessageText, []byte(message)); err != nil {
		p.t.Log("write:", err)
	}
}

func (p *peer) answer(c protocol.Command, result any) {
	p.say(string(protocol.MustEncode(protocol.Answer{ID: c.ID, Result: protocol.MustEncode(result)})))
}

func (p *peer) refuse(c protocol.Command, err *protocol.Error) {
	p.say(string(protocol.MustEncode(protocol.Answer{ID: c.ID, Error: err})))
}

// attach answers a subscribe to session s1 of the epoch: with a snapshot at after, or resumed from its position.
func (p *peer) attach(epoch string, after uint64) *protocol.Position {
	p.t.Helper()
	c := p.next(protocol.DoSubscribe)
	var d protocol.SubscribeData
	if err := c.DecodeData(&d); err != nil {
		p.t.Fatal(err)
	}
	r := protocol.SubscribeResult{Session: "s1", Mode: protocol.ModeSnapshot, After: protocol.Position{Epoch: epoch, Seq: after}, Clients: []protocol.Client{}}
	switch {
	case d.Position == nil:
	case d.Position.Epoch == epoch:
		r.Mode, r.After = protocol.ModeResume, *d.Position
	default:
		r.Mode, r.Reason = protocol.ModeReset, protocol.ResetEpoch
	}
	r.Position = r.After
	if r.Mode != protocol.ModeResume {
		r.Snapshot = &protocol.Snapshot{Epoch: epoch, State: &protocol.State{Session: "s1", Seq: after}}
	}
	p.answer(c, r)
	return d.Position
}

// events sends the raw deltas first..last of s1, each with its seq as text, in one message.
func (p *peer) events(first, last uint64) {
	var message []byte
	for seq := first; seq <= last; seq++ {
		message = append(delta(seq, 0).AppendJSON(message), '\n')
	}
	p.say(string(message))
}

func delta(seq, first uint64) *protocol.Event {
	text := ""
	for n := max(first, 1); n <= seq; n++ {
		if first == 0 {
			n = seq
		}
		text += fmt.Sprintf("%d ", n)
	}
	return &protocol.Event{
		Session: "s1", Seq: seq, FirstSeq: first, Turn: "t", Type: protocol.TextDelta,
		Time: time.Unix(1e9, 0), Data: protocol.MustEncode(protocol.PartDeltaData{Part: "p", Text: text}),
	}
}

// A reading is what a consumer of a subscription got, one at a time.
type reading struct {
	t     testing.TB
	items chan Item
	end   chan error // once
}

// read consumes a subscription in a goroutine of its own, an item for each call of item or seq.
func read(t testing.TB, ctx context.Context, s *Subscription) *reading {
	r := &reading{t: t, items: make(chan Item), end: make(chan error, 1)}
	go func() {
		var last error
		for it, err := range s.Events(ctx) {
			if err != nil {
				last = err
				continue
			}
			select {
			case r.items <- it:
			case <-ctx.Done():
				r.end <- nil
				return
			}
		}
		r.end <- last
	}()
	return r
}

func (r *reading) item() Item {
	r.t.Helper()
	select {
	case it := <-r.items:
		return it
	case err := <-r.end:
		r.t.Fatalf("the subscription ended: %v", err)
	case <-time.After(time.Minute):
		r.t.Fatal("no item came")
	}
	return Item{}
}

func (r *reading) attached(mode string) *protocol.SubscribeResult {
	r.t.Helper()
	it := r.item()
	if it.Attached == nil || it.Attached.Mode != mode {
		r.t.Fatalf("got %+v, want it attached with %s", it, mode)
	}
	return it.Attached
}

// seqs takes the events first..last.
func (r *reading) seqs(first, last uint64) {
	r.t.Helper()
	for want := first; want <= last; want++ {
		it := r.item()
		if it.Event == nil || it.Event.Seq != want {
			r.t.Fatalf("got %+v, want event %d", it, want)
		}
		var raw protocol.Event
		if err := json.Unmarshal(it.Raw, &raw); err != nil || raw.Seq != want {
			r.t.Fatalf("raw line %s of event %d", it.Raw, want)
		}
	}
}

func (r *reading) ended() error {
	r.t.Helper()
	select {
	case err := <-r.end:
		return err
	case it := <-r.items:
		r.t.Fatalf("got %+v, want the end", it)
	case <-time.After(time.Minute):
		r.t.Fatal("the subscription did not end")
	}
	return nil
}
