package server

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"agentctl/protocol"
	"agentctl/server/session"
)

// syncBuffer collects the output of a logger from any goroutine.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// EA-20: a failure in the background is logged with its detail. Its own client gets only a code.
// Neither the failure nor a broken connection disturbs another client.
func TestAFailureIsLoggedAndDisturbsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		var log syncBuffer
		w := newTestServer(t, func(w *testServer) {
			w.wrap = func(s session.Store) session.Store { return failingStore{s, &broken} }
			w.log = slog.New(slog.NewTextHandler(&log, nil))
			w.bounds.LogMemory = 1 // events dropped from memory are read from the store
		})
		id := w.runTurn("much")
		synctest.Wait()
		witness := w.dial().collect()
		witness.ask(protocol.DoSubscribe, id, nil)
		witness.all()
		behind, gone := w.dial().collect(), w.dial()
		broken.Store(true)
		behind.ask(protocol.DoSubscribe, id, subscribeDataRaw())
		gone.ask(protocol.DoSubscribe, id, nil)
		_ = gone.ws.CloseNow()
		for _, m := range behind.all() {
			if strings.Contains(string(m.Data), "/secret/path") {
				t.Errorf("a client reads %s", m.Data)
			}
		}
		if !strings.Contains(log.String(), "read log") || !strings.Contains(log.String(), "/secret/path") {
			t.Errorf("logged: %q", log.String())
		}
		witness.ask(protocol.DoSend, id, protocol.SendData{Text: "few"})
		if ended := ofType(witness.all(), protocol.TurnEnded); len(ended) != 1 {
			t.Errorf("the other client saw %d turns end", len(ended))
		}
	})
}
