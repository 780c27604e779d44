package server

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
)

func TestSilentConnectionHearsHeartbeats(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		c := w.dial().collect()
		time.Sleep(10*time.Minute + time.Second)
		beats := ofType(c.all(), protocol.Heartbeat)
		if len(beats) != 20 {
			t.Errorf("%d heartbeats in ten minutes, want 20", len(beats))
		}
		if code := c.closeCode(); code != 0 {
			t.Errorf("silent client: closed with %d", code)
		}
	})
}

func TestHalfOpenConnectionIsNoticed(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		c := w.dial().collect()
		id := result[protocol.CreateResult](c.testClient, c.ask(protocol.DoCreate, "", nil)).Session
		c.ask(protocol.DoSubscribe, id, protocol.SubscribeData{})
		half := upgrade(t, w.pipe.Dial)
		go func() { // reads and never answers, like a peer behind a dead link
			for b := make([]byte, 4096); ; {
				if _, err := half.Read(b); err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		if n := w.clients(); n != 2 {
			t.Fatalf("%d clients", n)
		}
		time.Sleep(90 * time.Second)
		synctest.Wait()
		if n := w.clients(); n != 1 {
			t.Errorf("%d clients after 90 s", n)
		}
	})
}

// A pong may be behind more commands than there are slots: the connection stays open.
func TestBusyClientSurvivesAPing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, withLimits(Limits{InFlight: 2}))
		conn := upgrade(t, w.pipe.Dial)
		frames := make(chan []byte, 100)
		go func() {
			defer close(frames)
			for {
				frame, err := readFrame(conn)
				if err != nil {
					return
				}
				frames <- frame
			}
		}()
		time.Sleep(31 * time.Second)
		ping := <-frames
		for ping[0] != 0x89 {
			ping = <-frames
		}
		var busy []byte
		for range 10 {
			busy = append(busy, masked(0x81, []byte(`{"id":"x","command":"ping"}`))...)
		}
		_, err := conn.Write(append(busy, masked(0x8a, ping[2:])...))
		must(t, err)
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if n := w.clients(); n != 1 {
			t.Error("connection closed")
		}
		_ = conn.Close()
	})
}

// readFrame reads a short server frame.
func readFrame(r io.Reader) ([]byte, error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	frame := append(head, make([]byte, head[1])...)
	_, err := io.ReadFull(r, frame[2:])
	return frame, err
}

// masked encodes a short client frame.
func masked(opcode byte, payload []byte) []byte {
	return append([]byte{opcode, 0x80 | byte(len(payload)), 0, 0, 0, 0}, payload...)
}
