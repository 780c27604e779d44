package server

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session"
)

func TestShutdownShowsHowTurnsEnd(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		c := w.dial()
		id := c.create("hang")
		c.subscribe(id, "")
		c.caughtUp(id)
		done := make(chan error, 1)
		go func() { done <- w.server.Shutdown(t.Context()) }()
		synctest.Wait() // the client starts to read
		m, _ := c.waitForType(protocol.TurnEnded)
		if d := decode[protocol.TurnEndedData](t, m); d.Reason != protocol.ReasonError ||
			d.Code != protocol.CodeServerRestart {
			t.Errorf("the turn ended with %+v", d)
		}
		if code := c.closeCode(); code != protocol.CloseGoingAway {
			t.Errorf("closed with %d", code)
		}
		must(t, <-done)
	})
}

func TestShutdownShowsWhatWasNotYetRead(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("large")
		c := w.dial()
		c.subscribe(id, "0")
		done := make(chan error, 1)
		go func() { done <- w.server.Shutdown(t.Context()) }()
		synctest.Wait()
		c.waitForType(protocol.TurnEnded)
		if code := c.closeCode(); code != protocol.CloseGoingAway {
			t.Errorf("closed with %d", code)
		}
		must(t, <-done)
	})
}

// slowStore takes a second for each commit.
type slowStore struct{ session.Store }

func (s slowStore) Commit(batches []*eventlog.Batch) error {
	time.Sleep(time.Second)
	return s.Store.Commit(batches)
}

func TestShutdownTwiceAtOnceCutsNothingShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(
			t,
			func(w *testServer) { w.wrap = func(s session.Store) session.Store { return slowStore{s} } },
		)
		c := w.dial()
		id := c.create("hang")
		c.subscribe(id, "")
		p := c.collect()
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if err := w.server.Shutdown(t.Context()); err != nil {
					t.Error(err)
				}
				if n := w.clients(); n != 0 {
					t.Errorf("%d clients after shutdown", n)
				}
			})
			synctest.Wait()
		}
		both.Wait()
		list, _ := events(p.all(), id)
		if len(list) == 0 || list[len(list)-1].Type != protocol.TurnEnded {
			t.Errorf("the client received %v", list)
		}
		must(t, w.server.Shutdown(t.Context()))
	})
}

func TestSessionsGoOnAfterARestart(t *testing.T) {
	w := newTestServer(t)
	id := w.runTurn("few")
	c := w.dial()
	before := c.subscribe(id, "")
	c.ask(protocol.DoSend, id, protocol.SendData{Text: "hang"})
	_ = c.ws.CloseNow()
	w.stop()
	w.start()
	c = w.dial()
	r := c.subscribe(id, before.Position.String())
	if r.Mode != protocol.ModeResume {
		t.Fatalf("resumed with %+v", r)
	}
	missed := c.caughtUp(id)
	follows(t, before.Position.Seq, missed)
	if last := missed[len(missed)-1]; last.Type != protocol.TurnEnded {
		t.Errorf("last event missed: %s", last.Type)
	}
	c.ask(protocol.DoSend, id, protocol.SendData{Text: "few"})
	c.waitForType(protocol.TurnEnded)
}

func TestConnectDuringShutdownIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		// A client that does not read delays the shutdown.
		dead := w.dial()
		id := dead.create("")
		dead.subscribe(id, "0")
		done := make(chan error)
		go func() { done <- w.server.Shutdown(t.Context()) }()
		synctest.Wait()
		ws, _, err := websocket.Dial(
			t.Context(),
			"ws://server"+protocol.Path,
			&websocket.DialOptions{HTTPClient: httpClient(w.pipe.Dial)},
		)
		if err == nil {
			_, _, err = ws.Read(t.Context())
			if code := websocket.CloseStatus(err); code != protocol.CloseGoingAway {
				t.Errorf("closed with %d", code)
			}
		}
		must(t, <-done)
	})
}

func TestShutdownEndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		c := w.dial()
		c.subscribe(c.create("endless"), "") // without reading
		synctest.Wait()
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_ = w.server.Shutdown(ctx)
		if took := time.Since(begun); took > 4*time.Second {
			t.Errorf("shutdown took %v, want 3 s", took)
		}
	})
}

// A client that stops in the middle of a message loses its connection.
func TestClientThatStopsInMidMessageIsCut(t *testing.T) {
	for _, tt := range []struct {
		name string
		sent int64 // of the 10 MiB announced by the frame
	}{
		{"below the limit", 1000},
		{"above the limit", protocol.MaxMessage + 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *testServer) {
				conn := upgrade(t, w.pipe.Dial)
				go func() { _, _ = io.Copy(io.Discard, conn) }()
				frame := []byte{0x81, 0xff, 0, 0, 0, 0, 0, 0xa0, 0, 0, 0, 0, 0, 0}
				_, err := conn.Write(append(frame, make([]byte, tt.sent)...))
				must(t, err)
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				if n := w.clients(); n != 0 {
					t.Errorf("%d clients after two minutes", n)
				}
				_ = conn.Close()
			})
		})
	}
}

// upgrade opens a WebSocket on a raw connection.
func upgrade(t testing.TB, dial func(context.Context) (net.Conn, error)) net.Conn {
	t.Helper()
	return upgradeAt(t, protocol.Path, dial)
}

func upgradeAt(t testing.TB, path string, dial func(context.Context) (net.Conn, error)) net.Conn {
	t.Helper()
	conn, err := dial(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(
		conn,
		"GET "+path+" HTTP/1.1\r\nHost: server\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: agentctl.v1\r\n\r\n",
	)
	must(t, err)
	var head []byte
	for b := make([]byte, 1); len(head) < 4 || string(head[len(head)-4:]) != "\r\n\r\n"; {
		_, err := conn.Read(b)
		must(t, err)
		head = append(head, b...)
	}
	return conn
}
