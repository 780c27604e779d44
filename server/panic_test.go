package server

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session"
)

// panickingStore panics when an answer is looked up while broken is set.
type panickingStore struct {
	session.Store
	broken *atomic.Bool
}

func (s panickingStore) Answer(ctx context.Context, key string) (eventlog.Answer, error) {
	if s.broken.Load() {
		panic("a bug")
	}
	return s.Store.Answer(ctx, key)
}

// lockedBuffer is a log for several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.String()
}

// A panic of a connection is logged with its stack and ends only that connection: it leaves no
// client attached and no key in use.
func TestAPanicEndsItsConnectionAlone(t *testing.T) {
	var broken atomic.Bool
	var log lockedBuffer
	w := newTestServer(t, func(w *testServer) {
		w.wrap = func(s session.Store) session.Store { return panickingStore{s, &broken} }
		w.log = slog.New(slog.NewTextHandler(&log, nil))
	})
	other, c := w.dial(), w.dial()
	id := other.create("")
	other.subscribe(id, "")
	c.hello(protocol.HelloData{Name: "unlucky"})
	c.subscribe(id, "")
	create := protocol.Command{ID: "1", Command: protocol.DoCreate, Key: "k"}
	broken.Store(true)
	c.write(string(protocol.MustEncode(create)))
	if code := c.closeCode(); code == 0 {
		t.Error("the connection is open")
	}
	other.waitFor("the end of the other client", func(m serverMessage) bool {
		return m.Type == protocol.ClientDetached && decode[protocol.Client](t, m).By.Name == "unlucky"
	})
	broken.Store(false)
	again := w.dial()
	again.write(string(protocol.MustEncode(create)))
	if m := again.answer("1"); m.Error != nil {
		t.Errorf("the key is in use: %v", m.Error)
	}
	if text := log.text(); !strings.Contains(text, "a bug") || !strings.Contains(text, "panickingStore.Answer") {
		t.Errorf("the log has no stack:\n%s", text)
	}
}
