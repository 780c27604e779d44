package server

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
)

// A collector reads everything that a client receives, immediately. It runs in a synctest bubble:
// its methods wait until the server is idle.
type collector struct {
	*testClient

	mu   sync.Mutex
	got  []received
	over error
}

// A received message with its size in bytes.
type received struct {
	serverMessage
	size int64
}

func (c *testClient) collect() *collector {
	c.timeout = 1000 * time.Hour // in virtual time: only a deadlock waits so long
	p := &collector{testClient: c}
	go func() {
		for {
			line, err := c.line()
			p.mu.Lock()
			if err != nil {
				p.over = err
				p.mu.Unlock()
				return
			}
			a := received{size: int64(len(line)) + 1}
			if err := json.Unmarshal([]byte(line), &a.serverMessage); err != nil {
				c.t.Error(err)
			}
			p.got = append(p.got, a)
			p.mu.Unlock()
		}
	}()
	return p
}

// all returns the messages received since the last call.
func (p *collector) all() []received {
	p.t.Helper()
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	got := p.got
	p.got = nil
	return got
}

// ask sends a command and returns its answer. Other messages stay collected.
func (p *collector) ask(verb protocol.Verb, session string, data any) serverMessage {
	p.t.Helper()
	id := p.send(verb, session, data)
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.got, func(a received) bool { return a.isAnswer() && a.ID == id })
	if i < 0 {
		p.t.Fatalf("%s has no answer", verb)
	}
	m := p.got[i].serverMessage
	p.got = slices.Delete(p.got, i, i+1)
	return m
}

// closeCode returns the close code of the connection: 0 while it is open, -1 without a closing
// handshake.
func (p *collector) closeCode() websocket.StatusCode {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over == nil {
		return 0
	}
	return websocket.CloseStatus(p.over)
}

// events returns the durable events of a session and their size in bytes.
func events(got []received, id string) (list []serverMessage, bytes int64) {
	for _, a := range got {
		if a.Durable() && a.Session == id {
			list = append(list, a.serverMessage)
			bytes += a.size
		}
	}
	return list, bytes
}

// ofType returns the events of a type, of any session.
func ofType(got []received, typ protocol.Type) (list []serverMessage) {
	for _, a := range got {
		if a.Type == typ {
			list = append(list, a.serverMessage)
		}
	}
	return list
}

func decode[T any](t testing.TB, m serverMessage) (v T) {
	t.Helper()
	must(t, m.Decode(&v))
	return v
}
