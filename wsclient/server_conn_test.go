package wsclient

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
)

// A serverConn is the server's end of one connection. It reads commands and answers pings.
type serverConn struct {
	t           testing.TB
	ws          *websocket.Conn
	request     *http.Request
	ignorePings bool                  // set before the first ping
	inFlight    int                   // in-flight limit for hello
	commands    chan protocol.Command // closed at the end
	acks        chan protocol.Command
	largest     int64 // bytes of the largest message
}

func (p *serverConn) read() {
	defer close(p.commands)
	for {
		_, message, err := p.ws.Read(context.Background())
		if err != nil {
			return
		}
		p.largest = max(p.largest, int64(len(message)))
		for line := range protocol.Lines(message) {
			c, err := protocol.DecodeCommand(line)
			switch {
			case err != nil:
				p.t.Errorf("the client sent %s: %v", line, err)
			case c.Command == protocol.DoAck:
				p.acks <- c
			case c.Command == protocol.DoPing && !p.ignorePings:
				p.answer(c, protocol.Empty{})
			default:
				p.commands <- c
			}
		}
	}
}

// nextConn waits for the next connection, before hello.
func (f *fakeServer) nextConn() *serverConn {
	f.t.Helper()
	select {
	case p := <-f.conns:
		return p
	case <-time.After(time.Minute):
		f.t.Fatal("no connection came")
		return nil
	}
}

// acceptHello waits for the next connection and answers its hello, with a window if it asks for
// acks.
func (f *fakeServer) acceptHello() *serverConn {
	f.t.Helper()
	p := f.nextConn()
	p.answerHello()
	return p
}

func (p *serverConn) answerHello() {
	p.t.Helper()
	hello := p.nextCommand(protocol.DoHello)
	var d protocol.HelloData
	if err := hello.DecodeData(&d); err != nil {
		p.t.Fatal(err)
	}
	r := protocol.HelloResult{Version: protocol.Version, Server: "fake", Connection: "c1"}
	r.Limits = protocol.Limits{Message: protocol.MaxMessage, InFlight: p.inFlight}
	if d.Acks {
		if r.Window = d.Window; r.Window == 0 {
			r.Window = protocol.DefaultWindow
		}
	}
	p.answer(hello, r)
	synctest.Wait() // the client sends its subscriptions and requests
}

// nextCommand waits for the next command other than acks and pings. It must have that verb.
func (p *serverConn) nextCommand(verb protocol.Verb) protocol.Command {
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

// expectNoCommand fails if a command arrived.
func (p *serverConn) expectNoCommand() {
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

// newAcks returns the newest acknowledged seq and the number of new acks.
func (p *serverConn) newAcks() (seq uint64, n int) {
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

// expectClosed waits until the client closes the connection.
func (p *serverConn) expectClosed() {
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

func (p *serverConn) write(message string) {
	if err := p.ws.Write(context.Background(), websocket.MessageText, []byte(message)); err != nil {
		p.t.Log("write:", err)
	}
}

func (p *serverConn) answer(c protocol.Command, result any) {
	p.write(string(protocol.MustEncode(protocol.Answer{ID: c.ID, Result: protocol.MustEncode(result)})))
}

func (p *serverConn) answerError(c protocol.Command, err *protocol.Error) {
	p.write(string(protocol.MustEncode(protocol.Answer{ID: c.ID, Error: err})))
}

// answerSubscribe answers a subscribe to session s1: with a snapshot at after, or resuming from its
// position. It returns the requested position.
func (p *serverConn) answerSubscribe(epoch string, after uint64) *protocol.Position {
	p.t.Helper()
	c := p.nextCommand(protocol.DoSubscribe)
	var d protocol.SubscribeData
	if err := c.DecodeData(&d); err != nil {
		p.t.Fatal(err)
	}
	r := protocol.SubscribeResult{
		Session: "s1",
		Mode:    protocol.ModeSnapshot,
		After:   protocol.Position{Epoch: epoch, Seq: after},
		Clients: []protocol.Client{},
	}
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

// sendDeltas sends the raw deltas first..last of s1 in one message. Each has its seq as text.
func (p *serverConn) sendDeltas(first, last uint64) {
	var message []byte
	for seq := first; seq <= last; seq++ {
		message = append(delta(seq, 0).AppendJSON(message), '\n')
	}
	p.write(string(message))
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
