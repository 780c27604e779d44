package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"agentctl/protocol"
	"agentctl/server"
	"agentctl/server/agent"
	"agentctl/server/session"
	"agentctl/server/sqlite"
	"agentctl/wsclient"
)

// A benchServer is a server on a Unix socket whose agent runs functions of the benchmark.
type benchServer struct {
	b      *testing.B
	socket string
	client *wsclient.Client
	turns  chan func(agent.Output) // each is run by the next turn of any session
	close  func()
}

// Open returns an agent that runs the functions in turns.
func (x *benchServer) Open(agent.Spec, agent.Host) (agent.Agent, error) {
	return &benchAgent{x}, nil
}
func (x *benchServer) Names() []string { return []string{"main"} }

type benchAgent struct{ bench *benchServer }

func (*benchAgent) Capabilities() agent.Capabilities { return agent.Capabilities{} }
func (*benchAgent) Close() error                     { return nil }

func (a *benchAgent) Run(ctx context.Context, _ agent.Turn, out agent.Output) (agent.End, error) {
	select {
	case f := <-a.bench.turns:
		f(out)
	case <-ctx.Done():
	}
	return agent.End{Reason: protocol.ReasonCompleted}, nil
}

// newBenchServer serves the store in dir.
func newBenchServer(b *testing.B, dir string, tweak ...func(*session.Config)) *benchServer {
	b.Helper()
	store, err := sqlite.Open(dir, sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	x := &benchServer{b: b, socket: filepath.Join(dir, "socket"), turns: make(chan func(agent.Output))}
	cfg := session.Config{Store: store, Agents: x, DefaultAgent: "main"}
	for _, f := range tweak {
		f(&cfg)
	}
	s, err := server.New(context.Background(), server.Config{Session: cfg})
	if err != nil {
		b.Fatal(errors.Join(err, store.Close()))
	}
	l, err := server.ListenUnix(x.socket)
	if err != nil {
		b.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	x.client = wsclient.New("unix://"+x.socket, wsclient.Options{})
	x.close = sync.OnceFunc(func() {
		_ = x.client.Close()
		if err := errors.Join(s.Shutdown(context.Background()), <-served, store.Close()); err != nil {
			b.Error(err)
		}
	})
	b.Cleanup(x.close)
	return x
}

func (x *benchServer) create() string {
	return do[protocol.CreateResult](x.b, x.client, protocol.DoCreate, "", protocol.CreateData{}).Session
}

// run executes f as a turn of the session and returns when the turn's end is visible.
func (x *benchServer) run(id string, f func(agent.Output)) {
	x.b.Helper()
	at := do[protocol.SendResult](x.b, x.client, protocol.DoSend, id, protocol.SendData{Text: "go"}).Seq
	x.turns <- f
	for it, err := range x.client.Subscribe(id,
		wsclient.SubscribeOptions{Since: &protocol.Position{Seq: at}}).Events(x.b.Context()) {
		if err != nil {
			x.b.Fatal(err)
		}
		if it.Event != nil && it.Event.Type == protocol.TurnEnded {
			return
		}
	}
}

// A rawReader is a connection that reads without decoding.
type rawReader struct {
	conn *websocket.Conn
}

func (x *benchServer) reader(id string, o protocol.SubscribeData) *rawReader {
	x.b.Helper()
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", x.socket)
		},
	}
	conn, _, err := websocket.Dial(x.b.Context(), "ws://server"+protocol.Path, &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport}, Subprotocols: []string{protocol.Subprotocol},
	})
	if err != nil {
		x.b.Fatal(err)
	}
	conn.SetReadLimit(-1)
	line := protocol.MustEncode(
		protocol.Command{ID: "1", Command: protocol.DoSubscribe, Session: id, Data: protocol.MustEncode(o)},
	)
	if err := conn.Write(x.b.Context(), websocket.MessageText, line); err != nil {
		x.b.Fatal(err)
	}
	return &rawReader{conn}
}

// until reads until a message contains text, and returns the number of bytes read.
func (r *rawReader) until(ctx context.Context, text []byte) (int, error) {
	n := 0
	for {
		_, message, err := r.conn.Read(ctx)
		if err != nil {
			return n, err
		}
		n += len(message)
		if bytes.Contains(message, text) {
			return n, nil
		}
	}
}

var caughtUp = []byte(`"type":"caught_up"`)

func delta(i int) agent.Event {
	return agent.Event{
		Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p1", Text: fmt.Sprintf("word%06d ", i)},
	}
}

// BenchmarkPublishToReceipt measures the time from an agent's Emit, through the store, to every
// subscriber.
func BenchmarkPublishToReceipt(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint("subscribers=", n), func(b *testing.B) {
			x := newBenchServer(b, b.TempDir())
			id := x.create()
			ctx, cancel := context.WithCancel(b.Context())
			received := make(chan time.Time, n)
			var live sync.WaitGroup
			for range n {
				r := x.reader(id, protocol.SubscribeData{Raw: true})
				if _, err := r.until(ctx, caughtUp); err != nil {
					b.Fatal(err)
				}
				live.Go(func() {
					defer r.conn.CloseNow()
					for {
						if _, err := r.until(ctx, []byte(`"text.delta"`)); err != nil {
							return
						}
						received <- time.Now()
					}
				})
			}
			took := make([]time.Duration, 0, n*b.N)
			x.run(id, func(out agent.Output) {
				_ = out.Emit(agent.Event{Type: protocol.TextStart, Data: protocol.PartStartData{Part: "p1"}})
				b.ResetTimer()
				for i := range b.N {
					began := time.Now()
					if err := out.Emit(delta(i)); err != nil {
						b.Error(err)
						return
					}
					for range n {
						took = append(took, (<-received).Sub(began))
					}
				}
				b.StopTimer()
			})
			cancel()
			live.Wait()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}

// BenchmarkCatchUp measures a client that attaches at the start of a long log.
func BenchmarkCatchUp(b *testing.B) {
	const events = 100_000
	x := newBenchServer(b, b.TempDir())
	id := x.create()
	x.run(id, func(out agent.Output) {
		for i := range events {
			if err := out.Emit(delta(i)); err != nil {
				b.Error(err)
				return
			}
		}
	})
	for _, how := range []struct {
		name string
		raw  bool
	}{{"raw", true}, {"folded", false}} {
		b.Run(how.name, func(b *testing.B) {
			size := 0
			for b.Loop() {
				r := x.reader(id, protocol.SubscribeData{Position: &protocol.Position{}, Raw: how.raw})
				n, err := r.until(b.Context(), caughtUp)
				if err != nil {
					b.Fatal(err)
				}
				size = n
				_ = r.conn.CloseNow()
			}
			b.ReportMetric(events*float64(b.N)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(size), "B/catch-up")
		})
		b.Run(how.name+" decoded", func(b *testing.B) {
			for b.Loop() {
				got := observe(
					b.Context(), x.client, id, wsclient.SubscribeOptions{Since: logStart(), Raw: how.raw},
					eventOfType(protocol.TurnEnded),
				)
				if got.err != nil {
					b.Fatal(got.err)
				}
			}
			b.ReportMetric(events*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// BenchmarkAppend measures the throughput of durable, visible events with concurrent sessions.
func BenchmarkAppend(b *testing.B) {
	for _, sessions := range []int{1, 10, 100} {
		b.Run(fmt.Sprint("sessions=", sessions), func(b *testing.B) {
			x := newBenchServer(b, b.TempDir())
			ids := make([]string, sessions)
			for i := range ids {
				ids[i] = x.create()
			}
			each := b.N/sessions + 1
			b.ResetTimer()
			var live sync.WaitGroup
			for _, id := range ids {
				live.Go(func() {
					x.run(id, func(out agent.Output) {
						for i := range each {
							if err := out.Emit(delta(i)); err != nil {
								b.Error(err)
								return
							}
						}
					})
				})
			}
			live.Wait()
			b.StopTimer()
			b.ReportMetric(float64(each*sessions)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// heapInUse returns the bytes in use on heap and stacks.
func heapInUse() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse + m.StackInuse)
}

// BenchmarkMemory measures the memory of idle clients and sessions. Client numbers include both
// ends of the connection.
func BenchmarkMemory(b *testing.B) {
	b.Run("idle client", func(b *testing.B) {
		x := newBenchServer(b, b.TempDir())
		id := x.create()
		const clients = 200
		for b.Loop() {
			before := heapInUse()
			readers := make([]*rawReader, clients)
			for i := range readers {
				readers[i] = x.reader(id, protocol.SubscribeData{})
				if _, err := readers[i].until(b.Context(), caughtUp); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((heapInUse()-before)/clients, "B/client")
			for _, r := range readers {
				_ = r.conn.CloseNow()
			}
		}
	})
	const sessions = 500
	b.Run("loaded session", func(b *testing.B) {
		for b.Loop() {
			x := newBenchServer(b, b.TempDir())
			_ = x.client.Connect(b.Context())
			before := heapInUse()
			for range sessions {
				x.create()
			}
			b.ReportMetric((heapInUse()-before)/sessions, "B/session")
			x.close()
		}
	})
	b.Run("unloaded session", func(b *testing.B) {
		for b.Loop() {
			x := newBenchServer(b, b.TempDir(), func(c *session.Config) { c.UnloadAfter = time.Millisecond })
			_ = x.client.Connect(b.Context())
			before, goroutines := heapInUse(), runtime.NumGoroutine()
			for range sessions {
				x.create()
			}
			for tick := time.NewTicker(time.Millisecond); runtime.NumGoroutine() > goroutines &&
				b.Context().Err() == nil; <-tick.C {
			}
			b.ReportMetric((heapInUse()-before)/sessions, "B/session")
			x.close()
		}
	})
}

// BenchmarkStartUp measures the start of a server on a store with many sessions.
func BenchmarkStartUp(b *testing.B) {
	for _, sessions := range []int{0, 1000} {
		b.Run(fmt.Sprint("sessions=", sessions), func(b *testing.B) {
			dir := b.TempDir()
			x := newBenchServer(b, dir)
			for range sessions {
				x.create()
			}
			x.close()
			for b.Loop() {
				store, err := sqlite.Open(dir, sqlite.Options{})
				if err != nil {
					b.Fatal(err)
				}
				s, err := server.New(b.Context(), server.Config{Session: session.Config{Store: store, Agents: x}})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := errors.Join(s.Shutdown(b.Context()), store.Close()); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
