package server

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"agentctl/protocol"
)

// socket serves a Unix socket and returns a function that dials it.
func (w *testServer) socket() func(context.Context) (net.Conn, error) {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), "s")
	l, err := ListenUnix(path)
	must(w.t, err)
	w.serve(l)
	return func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "unix", path) }
}

// follow subscribes on a raw connection, which costs less than a client.
func follow(b testing.TB, conn net.Conn, id string, raw bool) {
	b.Helper()
	data := protocol.MustEncode(protocol.SubscribeData{Raw: raw})
	_, err := conn.Write(
		masked(0x81, []byte(fmt.Sprintf(`{"id":"1","command":"subscribe","session":%q,"data":%s}`, id, data))),
	)
	must(b, err)
	waitFor(b, conn, []byte(`"caught_up"`))
}

// waitFor reads until a text arrives and returns the number of bytes read.
func waitFor(b testing.TB, conn net.Conn, text []byte) (n int) {
	b.Helper()
	buf := make([]byte, 64<<10)
	kept := 0
	for {
		read, err := conn.Read(buf[kept:])
		if err != nil {
			b.Error(err)
			return n
		}
		n += read
		got := buf[:kept+read]
		if bytes.Contains(got, text) {
			return n
		}
		kept = copy(buf, got[max(0, len(got)-len(text)):])
	}
}

// An agent emits 2,000 deltas of 100 bytes; all are stored and sent to every subscriber.
func BenchmarkFanOut(b *testing.B) {
	const deltas = 2000
	for _, raw := range []bool{false, true} {
		for _, n := range []int{1, 10, 100, 1000} {
			name := fmt.Sprintf("folded/%d", n)
			if raw {
				name = fmt.Sprintf("raw/%d", n)
			}
			b.Run(name, func(b *testing.B) {
				w := newTestServer(b)
				dial := w.socket()
				speaker := w.dial()
				id := speaker.create("")
				var conns []net.Conn
				for range n {
					conn := upgrade(b, dial)
					follow(b, conn, id, raw)
					conns = append(conns, conn)
				}
				var total int64
				var mu sync.Mutex
				for b.Loop() {
					speaker.ask(protocol.DoSend, id, protocol.SendData{Text: "bench"})
					var all sync.WaitGroup
					for _, conn := range conns {
						all.Go(func() {
							got := waitFor(b, conn, []byte(`"turn.ended"`))
							mu.Lock()
							total += int64(got)
							mu.Unlock()
						})
					}
					all.Wait()
				}
				seconds := b.Elapsed().Seconds()
				b.ReportMetric(float64(b.N)*deltas/seconds, "events/s")
				b.ReportMetric(float64(b.N)*deltas*float64(n)/seconds, "deliveries/s")
				b.ReportMetric(float64(total)/1e6/seconds, "MB/s")
				for _, conn := range conns {
					_ = conn.Close()
				}
			})
		}
	}
}

// The memory of an idle connection, including its client side in this process.
func BenchmarkIdleConnection(b *testing.B) {
	w := newTestServer(b)
	dial := w.socket()
	before := heapBytes()
	const n = 1000
	var conns []net.Conn
	for range n {
		conn := upgrade(b, dial)
		_, err := conn.Write(masked(0x81, []byte(`{"id":"1","command":"hello","data":{"acks":true}}`)))
		must(b, err)
		waitFor(b, conn, []byte(`"heartbeat_ms"`))
		conns = append(conns, conn)
	}
	grown := heapBytes() - before
	for b.Loop() {
	}
	b.ReportMetric(float64(grown)/n, "B/conn")
	for _, conn := range conns {
		_ = conn.Close()
	}
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
