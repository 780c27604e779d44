package server

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
)

// A client receives every event of its session once and in order, and all answers, regardless of
// other clients.
func TestNoClientHurtsAnother(t *testing.T) {
	w := newTestServer(t, withLimits(Limits{InFlight: 4}))
	witness := w.dial()
	witness.hello(protocol.HelloData{Acks: true})
	id := witness.create("")
	last := witness.subscribe(id, "").After.Seq
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var crowd sync.WaitGroup
	for n := range 8 {
		crowd.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(n)))
			for ctx.Err() == nil {
				w.attack(ctx, rnd, id)
			}
		})
	}
	for range 30 {
		key := fmt.Sprint(time.Now().UnixNano())
		witness.write(
			fmt.Sprintf(`{"id":%q,"command":"send","session":%q,"key":%q,"data":{"text":"few"}}`, key, id, key),
		)
		answered, ended := false, false
		for !answered || !ended {
			m := witness.next()
			if m.isAnswer() && m.ID == key {
				answered = true
				if m.Error != nil {
					t.Fatal(m.Error)
				}
			}
			if m.Durable() && m.Session == id {
				last = follows(t, last, []serverMessage{m})
				witness.send(protocol.DoAck, id, protocol.AckData{Seq: last})
			}
			ended = ended || m.Type == protocol.TurnEnded
		}
	}
	cancel()
	crowd.Wait()
}

// attack connects, sends random and invalid commands, and disconnects.
func (w *testServer) attack(ctx context.Context, rnd *rand.Rand, id string) {
	var socket net.Conn
	dial := func(ctx context.Context) (_ net.Conn, err error) {
		socket, err = w.pipe.Dial(ctx)
		return socket, err
	}
	options := &websocket.DialOptions{HTTPClient: httpClient(dial)}
	ws, _, err := websocket.Dial(ctx, "ws://server"+protocol.Path, options)
	if err != nil {
		return
	}
	defer ws.CloseNow()
	deadline, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	lines := []string{
		`{`,
		`{"command":"fly"}`,
		`{"id":"a","command":"ping"}`,
		`{"id":"a","command":"list"}`,
		`{"id":"a","command":"watch"}`,
		`{"id":"a","command":"hello","data":{"acks":true,"window":1}}`,
		`{"id":"a","command":"hello","data":{"name":"bad"}}`,
		`{"id":"a","command":"subscribe","session":"` + id + `"}`,
		`{"id":"a","command":"subscribe","session":"` + id + `","data":{"position":"0","raw":true}}`,
		`{"id":"a","command":"unsubscribe","session":"` + id + `"}`,
		`{"command":"ack","session":"` + id + `","data":{"seq":99999999}}`,
		`{"id":"a","command":"snapshot","session":"` + id + `"}`,
		`{"id":"a","command":"queue.hold","session":"` + id + `","data":{"message_id":"none"}}`,
	}
	for range rnd.IntN(30) {
		if ws.Write(deadline, websocket.MessageText, []byte(lines[rnd.IntN(len(lines))])) != nil {
			return
		}
		if rnd.IntN(3) == 0 {
			if _, _, err := ws.Read(deadline); err != nil {
				return
			}
		}
	}
	if rnd.IntN(2) == 0 {
		// The library would wait five seconds for a server that has aborted.
		stop := time.AfterFunc(20*time.Millisecond, func() { _ = socket.Close() })
		defer stop.Stop()
		_ = ws.Close(websocket.StatusNormalClosure, "")
	}
}

func TestFiftyDecideAndOneWins(t *testing.T) {
	w := newTestServer(t)
	c := w.dial()
	id := c.create("ask")
	c.subscribe(id, "0")
	m, _ := c.waitForType(protocol.ApprovalRequested)
	request := decode[protocol.Approval](t, m).Request
	const n = 50
	var clients []*testClient
	for i := range n {
		c := w.dial()
		c.hello(protocol.HelloData{Name: fmt.Sprint("client ", i)})
		clients = append(clients, c)
	}
	answers := make([]serverMessage, n)
	var all sync.WaitGroup
	for i, c := range clients {
		all.Go(func() {
			decision := protocol.AllowOnce
			if i%2 == 0 {
				decision = protocol.Deny
			}
			answers[i] = c.ask(protocol.DoApprove, id, protocol.ApproveData{Request: request, Decision: decision})
		})
	}
	all.Wait()
	resolved, _ := c.waitForType(protocol.ApprovalResolved)
	winner := ""
	for i, a := range answers {
		if a.Error == nil {
			if winner != "" {
				t.Errorf("both %s and client %d won", winner, i)
			}
			winner = fmt.Sprint("client ", i)
		}
	}
	if resolved.By == nil || resolved.By.Name != winner {
		t.Errorf("%q won, the event names %v", winner, resolved.By)
	}
	for i, a := range answers {
		if a.Error != nil &&
			(a.Error.Code != protocol.CodeConflict || a.Error.Winner == nil || a.Error.Winner.By.Name != winner) {
			t.Errorf("client %d: error %+v, but %s won", i, a.Error, winner)
		}
	}
}
