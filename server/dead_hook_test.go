//go:build unix

package server

import (
	"net"
	"syscall"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/hook"
)

// The processor time and the allocations of a turn of 2,000 events with a hook whose receiver never
// answers, and without a hook. Both are independent of the load of the machine.
func BenchmarkDeadHook(b *testing.B) {
	dead, err := net.Listen("tcp", "127.0.0.1:0") // accepts nothing, so connections hang
	must(b, err)
	defer dead.Close()
	url := "http://" + dead.Addr().String()
	for _, c := range []struct {
		name    string
		options []func(*testServer)
	}{
		{"none", nil},
		{"dead", []func(*testServer){withHooks(hook.Hook{Name: "dead", URL: url, Secret: make([]byte, 32)})}},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := newTestServer(b, c.options...)
			dial := w.socket()
			user := w.dial()
			id := user.create("")
			conn := upgrade(b, dial)
			defer conn.Close()
			follow(b, conn, id, true)
			b.ReportAllocs()
			began := processorTime(b)
			for b.Loop() {
				user.ask(protocol.DoSend, id, protocol.SendData{Text: "bench"})
				waitFor(b, conn, []byte(`"turn.ended"`))
			}
			b.ReportMetric(float64(processorTime(b)-began)/float64(b.N), "cpu-ns/op")
		})
	}
}

// processorTime returns the processor time of this process so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
