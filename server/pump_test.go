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

// A pump reads everything that comes for a client as soon as it comes. It lives in a synctest
// bubble: settled waits until the server has nothing more to do.
type pump struct {
	*client

	mu   sync.Mutex
	got  []arrival
	over error
}

// An arrival is a line that came and its size.
type arrival struct {
	told
	size int64
}

func (c *client) pump() *pump {
	c.patience = 1000 * time.Hour // in virtual time, whoever waits for nothing is stuck
	p := &pump{client: c}
	go func() {
		for {
			line, err := c.line()
			p.mu.Lock()
			if err != nil {
				p.over = err
				p.mu.Unlock()
				return
			}
			a := arrival{size: int64(len(line)) + 1}
			if err := json.Unmarshal([]byte(line), &a.told); err != nil {
				c.t.Error(err)
			}
			p.got = append(p.got, a)
			p.mu.Unlock()
		}
	}()
	return p
}

// settled returns what has come since the last time.
func (p *pump) settled() []arrival {
	p.t.Helper()
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	got := p.got
	p.got = nil
	return got
}

// ask sends a command and returns its answer; what else came stays.
func (p *pump) ask(verb protocol.Verb, session string, data any) told {
	p.t.Helper()
	id := p.send(verb, session, data)
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.got, func(a arrival) bool { return a.answer() && a.ID == id })
	if i < 0 {
		p.t.Fatalf("%s has no answer", verb)
	}
	m := p.got[i].told
	p.got = slices.Delete(p.got, i, i+1)
	return m
}

// closed returns how the connection ended: 0 when it has not, -1 when it was cut.
func (p *pump) closed() websocket.StatusCode {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over == nil {
		return 0
	}
	return websocket.CloseStatus(p.over)
}

// events picks the durable events of a session.
func events(got []arrival, id string) (list []told, bytes int64) {
	for _, a := range got {
		if a.Durable() && a.Session == id {
			list = append(list, a.told)
			bytes += a.size
		}
	}
	return list, bytes
}

// types picks the events of a type, of any session.
func ofType(got []arrival, typ protocol.Type) (list []told) {
	for _, a := range got {
		if a.Type == typ {
			list = append(list, a.told)
		}
	}
	return list
}

func decoded[T any](t testing.TB, m told) (v T) {
	t.Helper()
	must(t, m.Decode(&v))
	return v
}
