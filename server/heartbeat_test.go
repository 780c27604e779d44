package server

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
)

func TestSilentConnectionHearsHeartbeats(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		c := w.dial().pump()
		time.Sleep(10*time.Minute + time.Second)
		beats := ofType(c.settled(), protocol.Heartbeat)
		if len(beats) != 20 {
			t.Errorf("%d heartbeats in ten minutes, want 20", len(beats))
		}
		if code := c.closed(); code != 0 {
			t.Errorf("a client that only listens was closed with %d", code)
		}
	})
}

func TestHalfOpenConnectionIsNoticed(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		c := w.dial().pump()
		id := result[protocol.CreateResult](c.client, c.ask(protocol.DoCreate, "", nil)).Session
		c.ask(protocol.DoSubscribe, id, protocol.SubscribeData{})
		half := upgrade(t, w.pipe.Dial)
		go func() { // takes what comes and never answers, as a peer behind a dead link seems to
			for b := make([]byte, 4096); ; {
				if _, err := half.Read(b); err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		if n := w.server.Clients(); n != 2 {
			t.Fatalf("%d clients", n)
		}
		time.Sleep(90 * time.Second)
		synctest.Wait()
		if n := w.server.Clients(); n != 1 {
			t.Errorf("%d clients after 90 s", n)
		}
	})
}

// Commands may stand before a pong, more than have room at once: the client is served, not cut.
func TestBusyClientSurvivesAPing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, limited(Limits{InFlight: 2}))
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
		if n := w.server.Clients(); n != 1 {
			t.Error("it was cut")
		}
		_ = conn.Close()
	})
}

// readFrame reads a short frame of a server.
func readFrame(r io.Reader) ([]byte, error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	frame := append(head, make([]byte, head[1])...)
	_, err := io.ReadFull(r, frame[2:])
	return frame, err
}

// masked makes a short frame of a client.
func masked(opcode byte, payload []byte) []byte {
	return append([]byte{opcode, 0x80 | byte(len(payload)), 0, 0, 0, 0}, payload...)
}
