package web_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session"
)

// A watchedStore counts the readings of turns, and blocks those of sessions if the test wants it.
type watchedStore struct {
	session.Store

	turns   atomic.Int64
	block   atomic.Bool
	blocked chan error // ends of blocked readings
}

func (s *watchedStore) watch(of session.Store) session.Store {
	s.Store = of
	return s
}

func (s *watchedStore) Turns(ctx context.Context, id string, before uint64, limit int) ([]eventlog.TurnRow, error) {
	s.turns.Add(1)
	return s.Store.Turns(ctx, id, before, limit)
}

func (s *watchedStore) Session(ctx context.Context, id string) (eventlog.Record, error) {
	if s.block.Load() {
		<-ctx.Done()
		s.blocked <- ctx.Err()
		return eventlog.Record{}, ctx.Err()
	}
	return s.Store.Session(ctx, id)
}

// A request that waits for a message reads finished turns once, when its own has ended, however
// many end before it.
func TestAWaitReadsTheTurnsOnce(t *testing.T) {
	store := &watchedStore{}
	bubbleOn(t, store.watch, func(t *testing.T, w *testServer) {
		id := w.runTurn("few")
		w.do(protocol.DoSend, id, protocol.SendData{Text: "slow"})
		for range 5 {
			w.do(protocol.DoSend, id, protocol.SendData{Text: "few"})
		}
		store.turns.Store(0)
		code, body := w.post("POST", "/api/sessions/"+id+"/messages?wait=turn&timeout=600", `{"text":"few"}`)
		if code != 200 || !strings.Contains(body, `"completed"`) {
			t.Fatalf("%d %s", code, body)
		}
		if n := store.turns.Load(); n != 1 {
			t.Errorf("turns were read %d times", n)
		}
	})
}

// A stream that waits for its session to be read ends with its client.
func TestAStreamThatAttachesEndsWithItsClient(t *testing.T) {
	store := &watchedStore{blocked: make(chan error, 1)}
	bubbleOn(t, store.watch, func(t *testing.T, w *testServer) {
		id := w.runTurn("few")
		time.Sleep(time.Hour) // the session is unloaded
		store.block.Store(true)
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		url := "http://server/api/sessions/" + id + "/events"
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		must(t, err)
		go func() {
			if resp, err := w.client.Do(r); err == nil {
				_ = resp.Body.Close()
			}
		}()
		time.Sleep(time.Second)
		leave()
		synctest.Wait()
		select {
		case <-store.blocked:
		default:
			t.Error("the request waits for the store after its client has left")
		}
		store.block.Store(false)
	})
}
