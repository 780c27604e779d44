package server

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
)

const pingLine = `{"id":"x","command":"ping"}`

// A frame that violates RFC 6455 ends its connection, with 1002 or without a close frame, and no
// other connection.
func TestBrokenFramesEndTheirConnection(t *testing.T) {
	tests := []struct {
		name  string
		frame []byte
	}{
		{"unmasked", append([]byte{0x81, byte(len(pingLine))}, pingLine...)},
		{"compressed, which was not agreed", masked(0xc1, []byte(pingLine))},
		{"reserved bits", masked(0xb1, []byte(pingLine))},
		{"reserved opcode", masked(0x83, []byte(pingLine))},
		{"reserved control opcode", masked(0x8b, []byte(pingLine))},
		{"continuation of nothing", masked(0x80, []byte(pingLine))},
		{"a message in a message", append(masked(0x01, []byte(pingLine)), masked(0x81, []byte(pingLine))...)},
		{"fragmented ping", masked(0x09, nil)},
		{"long ping", append([]byte{0x89, 0xfe, 0, 200, 0, 0, 0, 0}, make([]byte, 200)...)},
		{"negative length", []byte{0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}},
		{"close with half a code", masked(0x88, []byte{3})},
		{"close with an invalid code", masked(0x88, []byte{0, 1})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *testServer) {
				other := w.dial().collect()
				conn := upgrade(t, w.pipe.Dial)
				got := make(chan []byte, 1)
				go func() {
					b, _ := io.ReadAll(conn)
					got <- b
				}()
				_, _ = conn.Write(tt.frame)
				time.Sleep(time.Minute)
				synctest.Wait()
				if n := w.clients(); n != 1 {
					t.Fatalf("%d clients", n)
				}
				if b := <-got; len(b) > 0 && (b[0] != 0x88 || binary.BigEndian.Uint16(b[2:]) != 1002) {
					t.Errorf("last bytes %q", b)
				}
				if m := other.ask(protocol.DoPing, "", nil); m.Error != nil {
					t.Error(m.Error)
				}
			})
		})
	}
}

func TestMessageMayComeInPieces(t *testing.T) {
	w := newTestServer(t)
	conn := upgrade(t, w.pipe.Dial)
	var frames []byte
	frames = append(frames, masked(0x01, []byte(pingLine[:5]))...)
	frames = append(frames, masked(0x89, []byte("between"))...)
	frames = append(frames, masked(0x00, nil)...)
	frames = append(frames, masked(0x80, []byte(pingLine[5:]))...)
	go func() { _, _ = conn.Write(frames) }()
	var all []byte
	for !bytes.Contains(all, []byte(`"result"`)) {
		must(t, conn.SetReadDeadline(time.Now().Add(testTimeout)))
		frame, err := readFrame(conn)
		must(t, err)
		all = append(all, frame...)
	}
	if !bytes.Contains(all, []byte("between")) {
		t.Error("no pong")
	}
	_ = conn.Close()
}

func TestSlowRequestIsCut(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		conn, err := w.pipe.Dial(t.Context())
		must(t, err)
		over := make(chan struct{})
		go func() {
			defer close(over)
			_, _ = io.Copy(io.Discard, conn)
		}()
		begun := time.Now()
		for range 100 { // a header byte a second
			if _, err := io.Copy(conn, strings.NewReader("G")); err != nil {
				break
			}
			time.Sleep(time.Second)
		}
		<-over
		if took := time.Since(begun); took > 15*time.Second {
			t.Errorf("closed after %v", took)
		}
		_ = conn.Close()
	})
}

func TestPipeThatIsClosedIsNotDialled(t *testing.T) {
	p := NewPipe()
	must(t, p.Close())
	must(t, p.Close())
	if conn, err := p.Dial(t.Context()); err != net.ErrClosed {
		t.Errorf("dialed %v, %v", conn, err)
	}
}

func TestGoodbyeIsAnsweredOnce(t *testing.T) {
	w := newTestServer(t)
	conn := upgrade(t, w.pipe.Dial)
	goodbye := []byte{3, 232, 'b', 'y', 'e'} // 1000
	go func() { _, _ = conn.Write(masked(0x88, goodbye)) }()
	must(t, conn.SetReadDeadline(time.Now().Add(testTimeout)))
	b, err := io.ReadAll(conn)
	must(t, err)
	if want := append([]byte{0x88, 5}, goodbye...); !bytes.Equal(b, want) {
		t.Errorf("answered %q, want %q", b, want)
	}
}
