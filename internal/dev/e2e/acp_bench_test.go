//go:build unix

package e2e

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// BenchmarkEditors measures what 100 clients of one session cost while its agent writes 200 deltas a
// second, with both ends in this process: native ones that get each delta, native ones whose deltas are
// joined as screens ask for, and editors.
func BenchmarkEditors(b *testing.B) {
	const clients, rate = 100, 200
	native := func(x *benchServer, id string, d protocol.SubscribeData) *rawReader {
		r := x.reader(id, d)
		if _, err := r.until(b.Context(), caughtUp); err != nil {
			b.Fatal(err)
		}
		return r
	}
	for name, connect := range map[string]func(x *benchServer, id string) *rawReader{
		"native": func(x *benchServer, id string) *rawReader { return native(x, id, protocol.SubscribeData{}) },
		"joined": func(x *benchServer, id string) *rawReader { return native(x, id, protocol.SubscribeData{FoldMS: 50}) },
		"editor": func(x *benchServer, id string) *rawReader { return x.rawEditor(id) },
	} {
		b.Run(name, func(b *testing.B) {
			x := newBenchServer(b, b.TempDir())
			id := x.create()
			ctx, cancel := context.WithCancel(b.Context())
			var live sync.WaitGroup
			before := heap()
			readers := make([]*rawReader, clients)
			for i := range readers {
				readers[i] = connect(x, id)
			}
			memory := heap() - before
			for _, r := range readers {
				live.Go(func() {
					defer r.conn.CloseNow()
					for {
						if _, _, err := r.conn.Read(ctx); err != nil {
							return
						}
					}
				})
			}
			var used time.Duration
			events := 0
			x.run(id, func(out agent.Output) {
				_ = out.Emit(agent.Event{Type: protocol.TextStart, Data: protocol.PartStartData{Part: "p1"}})
				began := processorTime()
				tick := time.NewTicker(time.Second / rate)
				defer tick.Stop()
				for b.Loop() {
					<-tick.C
					_ = out.Emit(delta(events))
					events++
				}
				used = processorTime() - began
			})
			seconds := float64(events) / rate
			b.ReportMetric(float64(memory)/clients/1024, "KiB/client") // of both ends
			b.ReportMetric(used.Seconds()/seconds/clients*1e6, "processor-µs/client/s")
			cancel()
			live.Wait()
		})
	}
}

// rawEditor opens a session as an editor that reads without decoding.
func (x *benchServer) rawEditor(id string) *rawReader {
	x.b.Helper()
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", x.socket)
		},
	}
	conn, _, err := websocket.Dial(x.b.Context(), "ws://server/acp", &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport},
	})
	if err != nil {
		x.b.Fatal(err)
	}
	conn.SetReadLimit(-1)
	r := &rawReader{conn}
	for i, m := range []string{
		`"method":"initialize","params":{"protocolVersion":1}`, fmt.Sprintf(`"method":"session/resume","params":{"sessionId":%q}`, id),
	} {
		if err := conn.Write(x.b.Context(), websocket.MessageText, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,%s}`, i, m)); err != nil {
			x.b.Fatal(err)
		}
		if _, err := r.until(x.b.Context(), fmt.Appendf(nil, `"id":%d,"result"`, i)); err != nil {
			x.b.Fatal(err)
		}
	}
	return r
}

// heap returns the memory of live objects and stacks, in bytes.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
