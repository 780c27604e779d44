package server

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"agentctl/protocol"
)

// readAnyFrame reads a frame of the server of any size.
func readAnyFrame(r io.Reader) (opcode byte, payload []byte, err error) {
	var head [10]byte
	if _, err := io.ReadFull(r, head[:2]); err != nil {
		return 0, nil, err
	}
	size := uint64(head[1])
	if wide := map[byte]int{126: 2, 127: 8}[head[1]]; wide > 0 {
		if _, err := io.ReadFull(r, head[2:2+wide]); err != nil {
			return 0, nil, err
		}
		size = binary.BigEndian.Uint64(append(make([]byte, 8-wide), head[2:2+wide]...))
	}
	payload = make([]byte, size)
	_, err = io.ReadFull(r, payload)
	return head[0], payload, err
}

func TestMessagesOfAnySizeAreOneFrame(t *testing.T) {
	near, far := net.Pipe()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	tcp, err := net.Dial("tcp", l.Addr().String())
	must(t, err)
	accepted, err := l.Accept()
	must(t, err)
	for i, server := range []net.Conn{near, &socket{Conn: accepted}} {
		client := []net.Conn{far, tcp}[i]
		f := newFrameSocket(server)
		if one := f.direct != nil; one != (i == 1) {
			t.Errorf("%T: one system call: %v", server, one)
		}
		for _, size := range []int{0, 1, 125, 126, 65535, 65536, 300_000} {
			message := bytes.Repeat([]byte{'x'}, size)
			failed := make(chan error, 1)
			go func() { failed <- f.writeText(message) }()
			opcode, got, err := readAnyFrame(client)
			must(t, err)
			must(t, <-failed)
			if opcode != 0x81 || !bytes.Equal(got, message) {
				t.Errorf("%T: %d bytes: frame %x of %d bytes", server, size, opcode, len(got))
			}
		}
		must(t, client.Close())
	}
	_ = accepted.Close()
}

// A client that pings while it is sent much, and then closes, gets whole frames, its pongs, and a
// close frame as the last one.
func TestControlFramesComeBetweenMessages(t *testing.T) {
	w := newTestServer(t)
	speaker := w.dial()
	id := speaker.create("endless")
	must(t, speaker.ws.CloseNow())
	conn := upgrade(t, w.socket())
	defer conn.Close()
	must(t, conn.SetDeadline(time.Now().Add(testTimeout)))
	_, err := conn.Write(masked(0x81, []byte(`{"id":"1","command":"subscribe","session":"`+id+`"}`)))
	must(t, err)
	const pings = 200
	go func() {
		for i := range pings {
			_, _ = conn.Write(masked(0x89, fmt.Append(nil, "ping ", i)))
		}
	}()
	in := bufio.NewReader(conn)
	pongs, closing := 0, false
	for {
		opcode, payload, err := readAnyFrame(in)
		must(t, err)
		switch opcode {
		case 0x81:
			if len(payload) == 0 || payload[0] != '{' || payload[len(payload)-1] != '\n' {
				t.Fatalf("text %.40q", payload)
			}
		case 0x8a:
			if want := fmt.Sprint("ping ", pongs); string(payload) != want {
				t.Fatalf("pong %q, want %q", payload, want)
			}
			pongs++
		case 0x88:
			if !closing {
				t.Fatalf("closed with %q", payload)
			}
			if rest, _ := io.ReadAll(in); len(rest) > 0 {
				t.Errorf("%d bytes after the close frame", len(rest))
			}
			return
		default:
			t.Fatalf("frame %x", opcode)
		}
		if pongs == pings && !closing {
			closing = true
			_, err := conn.Write(masked(0x88, []byte{3, 0xe8}))
			must(t, err)
		}
	}
}

// A message that a client sends together with its HTTP request is not lost.
func TestMessageRightAfterTheHandshake(t *testing.T) {
	w := newTestServer(t)
	conn, err := w.pipe.Dial(t.Context())
	must(t, err)
	defer conn.Close()
	large := `{"id":"y","command":"ping","data":{"x":"` + string(bytes.Repeat([]byte{'x'}, 2000)) + `"}}`
	frame := binary.BigEndian.AppendUint16([]byte{0x81, 0xfe}, uint16(len(large)))
	go func() {
		_, _ = io.WriteString(conn, "GET "+protocol.Path+" HTTP/1.1\r\nHost: server\r\nConnection: Upgrade\r\n"+
			"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"+
			"Sec-WebSocket-Protocol: "+protocol.Subprotocol+"\r\n\r\n"+
			string(masked(0x81, []byte(pingLine)))+string(frame)+"\x00\x00\x00\x00"+large)
	}()
	var got []byte
	for buf := make([]byte, 4096); !bytes.Contains(got, []byte(`"id":"y"`)); {
		must(t, conn.SetReadDeadline(time.Now().Add(testTimeout)))
		n, err := conn.Read(buf)
		must(t, err)
		got = append(got, buf[:n]...)
	}
	if !bytes.Contains(got, []byte(`"id":"x"`)) {
		t.Errorf("the first command is not answered: %q", got)
	}
}

func TestAnIdleConnectionIsTwoGoroutines(t *testing.T) {
	w := newTestServer(t)
	id := w.runTurn("few")
	dial := w.socket()
	const n = 40
	for name, connect := range map[string]func() net.Conn{
		"native": func() net.Conn {
			conn := upgrade(t, dial)
			follow(t, conn, id, false)
			return conn
		},
		"editor": func() net.Conn { // its commands end on other goroutines
			conn := upgradeAt(t, acpPath, dial)
			for i, request := range []string{
				`"method":"initialize","params":{"protocolVersion":1}`,
				fmt.Sprintf(`"method":"session/resume","params":{"sessionId":%q}`, id),
			} {
				_, err := conn.Write(masked(0x81, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,%s}`, i, request)))
				must(t, err)
				waitFor(t, conn, fmt.Appendf(nil, `"id":%d`, i))
			}
			return conn
		},
	} {
		before := runtime.NumGoroutine()
		for range n {
			defer connect().Close()
		}
		if grown := runtime.NumGoroutine() - before; grown > 2*n+10 {
			t.Errorf("%d goroutines for %d connections: %s", grown, n, name)
		}
	}
}

// Events are written from the memory of the log: an event that is delivered to a client costs no
// allocation. The cost of a subscription is measured for a client that lacks only a few events.
func TestDeliveryDoesNotAllocate(t *testing.T) {
	const events, clients = 20_000, 10
	w := newTestServer(t)
	id := w.runTurn("very much")
	dial := w.socket()
	allocations := func(position int) uint64 {
		conns := make([]net.Conn, clients)
		for i := range conns {
			conns[i] = upgrade(t, dial)
			defer conns[i].Close()
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var readers sync.WaitGroup
		for _, conn := range conns {
			readers.Go(func() {
				_, err := conn.Write(masked(0x81, fmt.Appendf(nil,
					`{"command":"subscribe","session":%q,"data":{"raw":true,"position":"%d"}}`, id, position)))
				if err != nil {
					t.Error(err)
					return
				}
				waitFor(t, conn, []byte(`"caught_up"`))
			})
		}
		readers.Wait()
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	few, all := allocations(events-10), allocations(0)
	if most := uint64(events * clients / 100); all > few+most {
		t.Errorf("%d deliveries: %d allocations, without them %d", events*clients, all, few)
	}
}
