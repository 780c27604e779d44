package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// A faultyProxy is a proxy that randomly cuts, stalls and splits traffic, reproducibly from a seed.
// It runs in virtual time.
type faultyProxy struct {
	dial    func(context.Context) (net.Conn, error)
	seed    uint64
	pumps   sync.WaitGroup // one per direction of a connection
	mu      sync.Mutex
	dials   uint64
	cuts    int
	stalls  int
	splits  int
	healthy bool
}

// newFaultyProxy returns a proxy that ends with the test. Create its clients after it.
func newFaultyProxy(w *testServer, seed uint64) *faultyProxy {
	s := &faultyProxy{dial: w.dial, seed: seed}
	w.t.Cleanup(s.pumps.Wait)
	return s
}

func (s *faultyProxy) Dial(ctx context.Context) (net.Conn, error) {
	server, err := s.dial(ctx)
	if err != nil {
		return nil, err
	}
	client, proxyEnd := net.Pipe()
	s.mu.Lock()
	s.dials++
	n := s.dials
	s.mu.Unlock()
	s.pumps.Go(func() { s.pump(server, proxyEnd, rand.New(rand.NewPCG(s.seed, 2*n))) })
	s.pumps.Go(func() { s.pump(proxyEnd, server, rand.New(rand.NewPCG(s.seed, 2*n+1))) })
	return client, nil
}

// pump copies one direction until the connection is cut or closed.
func (s *faultyProxy) pump(to, from net.Conn, rng *rand.Rand) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		p := buf[:n]
		switch r := rng.IntN(1000); {
		case s.isHealthy():
		case r < 8: // cut, possibly within a message
			s.count(&s.cuts)
			_, _ = to.Write(p[:rng.IntN(n+1)])
			return
		case r < 14: // stall, sometimes past the client's patience
			s.count(&s.stalls)
			time.Sleep(time.Duration(rng.IntN(30_000)) * time.Millisecond)
		case r < 60: // split
			s.count(&s.splits)
			half := rng.IntN(n + 1)
			if _, err := to.Write(p[:half]); err != nil {
				return
			}
			time.Sleep(time.Duration(rng.IntN(200)) * time.Millisecond)
			p = p[half:]
		}
		if _, err := to.Write(p); err != nil {
			return
		}
	}
}

func (s *faultyProxy) count(n *int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*n++
}

func (s *faultyProxy) isHealthy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.healthy
}

func TestClientsOnAFaultyNetworkGetEveryEventOnceAndInOrder(t *testing.T) {
	for seed := range uint64(thorough.Rounds(1, 5)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const deltas = 5000
				w := newTestServer(
					t, `{"on":"*"}`, fmt.Sprintf(`{"burst":%d,"size":30,"parts":2,"delay":"5ms"}`, deltas),
				)
				ann := w.client("ann")
				id := w.create(ann)
				var proxies []*faultyProxy
				var all []<-chan *observer
				for i := range 5 {
					s := newFaultyProxy(w, seed*10+uint64(i))
					proxies = append(proxies, s)
					rng := rand.New(rand.NewPCG(s.seed, 0))
					c := w.client(fmt.Sprint("client ", i), func(o *wsclient.Options) {
						o.Dial, o.Rand = s.Dial, rng.Float64
						if i == 4 {
							o.Window = -1
						}
					})
					o := wsclient.SubscribeOptions{Since: logStart(), Raw: i%2 == 0}
					all = append(all, async(func() *observer { return observe(t.Context(), c, id, o, turnsEnded(1)) }))
				}
				w.send(ann, id, "go")
				var end uint64
				for i, c := range all {
					got := <-c
					if got.err != nil {
						t.Fatalf("client %d: %v", i, got.err)
					}
					if i%2 == 0 && uint64(len(got.raw)) != got.state.Seq {
						t.Errorf("client %d got %d events up to %d", i, len(got.raw), got.state.Seq)
					}
					if end == 0 {
						end = got.state.Seq
					}
					if got.state.Seq != end || end < deltas {
						t.Errorf("client %d ends at %d, another at %d", i, got.state.Seq, end)
					}
					if text := got.text(); strings.Count(text, ".") == 0 || len(text) != deltas*30 {
						t.Errorf("client %d has %d bytes of text", i, len(text))
					}
				}
				cuts := 0
				for _, s := range proxies {
					cuts += s.cuts
					s.mu.Lock()
					s.healthy = true
					s.mu.Unlock()
				}
				if cuts == 0 {
					t.Error("nothing was cut")
				}
				t.Logf(
					"%d events; %d cuts, %d stalls and %d halves for the first client", end, proxies[0].cuts,
					proxies[0].stalls, proxies[0].splits,
				)
			})
		})
	}
}

func TestACommandOnAFaultyNetworkActsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, `{"on":"*"}`, `{"say":"ok"}`)
		direct := w.client("ann")
		id := w.create(direct)
		s := newFaultyProxy(w, 7)
		faulty := w.client("bob", func(o *wsclient.Options) { o.Dial, o.Rand = s.Dial, func() float64 { return 0 } })
		const sends = 300
		for i := range sends {
			w.send(faulty, id, fmt.Sprint("message ", i))
		}
		s.mu.Lock()
		s.healthy = true
		cuts := s.cuts
		s.mu.Unlock()
		got := mustObserve(t, direct, id, wsclient.SubscribeOptions{Since: logStart()}, turnsEnded(sends))
		for i, turn := range got.transcript.Turns {
			if want := fmt.Sprint("message ", i); turn.Message.Text != want {
				t.Fatalf("turn %d is %q", i, turn.Message.Text)
			}
		}
		if len(got.transcript.Turns) != sends || cuts == 0 || got.state.Status() != protocol.Idle {
			t.Errorf("%d turns, %d cuts, %s", len(got.transcript.Turns), cuts, got.state.Status())
		}
	})
}
