//go:build linux && soak

package soak

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"agentctl/dialect"
	"agentctl/internal/dev/fakeacp"
	"agentctl/internal/dev/testbinary"
	"agentctl/protocol"
	"agentctl/wsclient"
)

func TestMain(m *testing.M) {
	if fakeacp.Enabled() {
		os.Exit(fakeacp.Main())
	}
	os.Exit(testbinary.Run(m))
}

// A run is one soak: a server with its sessions and clients.
type run struct {
	options
	*testbinary.Server
	t        *testing.T
	rng      *rand.Rand // of the faults
	check    *checker
	operator *client // has no session and no injected faults
	sessions []string
	clients  []*client

	token, socket string
	address       atomic.Pointer[string] // of TCP; changes with each process
	calm          chan struct{}          // closed at the end of the faults
	working       sync.WaitGroup         // commands in progress
	count         counters
	leaks         []string // what the server holds more than before
	injected      injected

	mu      sync.Mutex
	refusal map[string]int // commands without success, by their error
}

// injected are faults of the kind that a run must find. Zero: none.
type injected struct {
	item    func(*client, wsclient.Item) []wsclient.Item // what a client gets instead
	leaving func()                                       // called when all clients have left
}

// counters count what happened.
type counters struct{ acknowledged, cuts, dials, offline, kills, agentKills atomic.Int64 }

func (r *run) refused(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refusal[why]++
}

// waitUnlessCalm waits for d. It returns false, early, when the faults have ended or ctx ends.
func (r *run) waitUnlessCalm(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.calm:
	case <-ctx.Done():
	}
	return false
}

func TestSoak(t *testing.T) {
	o := flags
	if o.Seed == 0 {
		o.Seed = rand.Uint64N(1 << 32)
	}
	if end, ok := t.Deadline(); ok && time.Until(end) < 2*o.For {
		t.Fatalf("-timeout is too short for -for %s: pass -timeout 0", o.For)
	}
	r := newRun(t, o)
	defer func() { // also after t.Fatal
		for _, v := range r.check.violations {
			t.Error(v)
		}
		if n := r.check.dropped; n > 0 {
			t.Errorf("and %d more", n)
		}
		for _, leak := range r.leaks {
			t.Errorf("after all clients have left: %s", leak)
		}
	}()
	r.soak()
}

func newRun(t *testing.T, o options) *run {
	dir, err := os.MkdirTemp("/tmp", "soak") // short: the path of the socket is in it
	if err != nil {
		t.Fatal(err)
	}
	r := &run{
		options: o, t: t, rng: rand.New(rand.NewPCG(o.Seed, 0)), check: newChecker(), calm: make(chan struct{}),
		refusal: map[string]int{},
		Server: &testbinary.Server{
			T: t, Dir: dir, Args: []string{"--listen", "127.0.0.1:0"},
			Env: []string{"GODEBUG=gctrace=1", "GOTRACEBACK=all"},
		},
	}
	r.configure()
	t.Cleanup(func() {
		r.KillAll()
		if !t.Failed() {
			_ = os.RemoveAll(dir)
			return
		}
		t.Logf("the server's files and log: %s; again: -seed %d", dir, o.Seed)
	})
	return r
}

// soak runs everything.
func (r *run) soak() {
	began := time.Now()
	phase := func(name string) { r.t.Logf("%6.1fs %s", time.Since(began).Seconds(), name) }
	ctx := r.t.Context()
	phase(fmt.Sprintf("seed %d: %d sessions, %d clients, for %s", r.Seed, r.Sessions, r.Clients, r.For))
	r.start()
	r.operator = r.newClient("k0", native, "", false)
	r.createSessions(ctx)
	phase("sessions created")
	before := r.measure(ctx)
	phase("before: " + before.String())

	following, leave := context.WithCancel(ctx)
	defer leave()
	var sending, live sync.WaitGroup
	for n := range r.Clients {
		c := r.addClient(n)
		rng := rand.New(rand.NewPCG(r.Seed, uint64(n)+1))
		sender := rand.New(rand.NewPCG(r.Seed, uint64(n)+1<<32))
		live.Go(func() { c.follow(following, rng) })
		sending.Go(func() { c.send(ctx, sender) })
	}
	peak := r.disturb(ctx)
	close(r.calm)
	phase("faults ended")
	sending.Wait()
	phase("all messages answered")
	r.drain(ctx)
	phase("all turns ended")
	r.checkClients(ctx)
	r.working.Wait()
	leave()
	live.Wait()
	var closing sync.WaitGroup
	for _, c := range r.clients {
		closing.Go(func() { _ = c.wire.Close() })
	}
	closing.Wait()
	phase("clients left")
	if f := r.injected.leaving; f != nil {
		f()
	}
	after := r.measure(ctx)
	phase("after: " + after.String())
	r.audit(ctx)
	phase("logs read")
	_ = r.operator.wire.Close()
	r.Stop()
	if left := r.Agents(); len(left) > 0 {
		r.t.Errorf("processes %v of the stopped server still run", left)
	}
	r.leaks = leaks(&before, &after, r.allowance())
	peak = max(peak, before.Peak, after.Peak)
	r.report(time.Since(began), peak, &before, &after)
}

// addClient adds client n. The protocols of a session's clients differ, and the protocols of
// neighbouring sessions too.
func (r *run) addClient(n int) *client {
	protocols := append([]string{native}, dialect.Names()...)
	session, round := n%r.Sessions, n/r.Sessions
	name := fmt.Sprintf("k%d", n+1)
	c := r.newClient(name, protocols[(session+round)%len(protocols)], r.sessions[session],
		(session/len(protocols)+round)%2 == 0)
	c.acp, c.slow = r.isACP(session), n%100 < r.Slow
	r.clients = append(r.clients, c)
	return c
}

// disturb cuts connections and kills agents and the server. It returns the peak of its memory.
func (r *run) disturb(ctx context.Context) (peak int64) {
	end := time.Now().Add(r.For)
	nextKill := r.nextKill()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for time.Now().Before(end) && ctx.Err() == nil {
		<-tick.C
		for range len(r.clients) * r.Cut / 100 {
			r.clients[r.rng.IntN(len(r.clients))].cut(r.rng.IntN(2) == 0)
		}
		if agents := r.Agents(); r.rng.IntN(3) == 0 && len(agents) > 0 {
			_ = syscall.Kill(agents[r.rng.IntN(len(agents))], syscall.SIGKILL)
			r.count.agentKills.Add(1)
		}
		if time.Now().Before(nextKill) {
			continue
		}
		peak = max(peak, r.usage().Peak)
		r.CheckGone(r.restart(ctx, syscall.SIGKILL))
		r.releaseQueues(ctx)
		nextKill = r.nextKill()
	}
	return max(peak, r.usage().Peak)
}

func (r *run) nextKill() time.Time {
	return time.Now().Add(r.KillMean/2 + time.Duration(r.rng.Int64N(int64(r.KillMean))))
}

// drain waits until every client has sent its messages, and every session is idle.
func (r *run) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	for busy := true; busy; {
		r.endTurns(ctx)
		busy = false
		for _, c := range r.clients {
			if busy = c.hasQueue(ctx); !busy {
				continue
			}
			if wait(ctx, 200*time.Millisecond); ctx.Err() != nil {
				c.violate(0, "%s client: messages wait in the client, though its session is idle", c.protocol)
				return
			}
			break
		}
	}
}

// endTurns waits until every session is idle.
func (r *run) endTurns(ctx context.Context) {
	r.until(ctx, "turns end", func(s *protocol.Summary) bool {
		if s.Held {
			r.release(ctx, s.Session)
		}
		return s.Status == protocol.Idle && s.Queue == 0
	})
}

// drainTimeout bounds the waits after the faults.
const drainTimeout = 3 * time.Minute

// until waits until all sessions fulfil a condition.
func (r *run) until(ctx context.Context, what string, fulfils func(*protocol.Summary) bool) {
	r.t.Helper()
	for {
		list := must[protocol.ListResult](ctx, r, protocol.DoList, "", protocol.ListData{})
		var missing []string
		for i := range list.Sessions {
			if s := &list.Sessions[i]; !fulfils(s) {
				missing = append(missing, fmt.Sprintf(
					"%s: %s, %d queued, %d clients", s.Session, s.Status, s.Queue, s.Clients,
				))
			}
		}
		if len(missing) == 0 && len(list.Sessions) == len(r.sessions) {
			return
		}
		if wait(ctx, 200*time.Millisecond); ctx.Err() != nil {
			r.t.Fatalf("%s: %d of %d sessions are left; the first: %s", what, len(missing), len(r.sessions), missing[0])
		}
	}
}

// checkClients sends a last message to every session. Every client must see its turn and, natively,
// end with the state of the server.
func (r *run) checkClients(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	expected := map[string]int{}
	for _, c := range r.clients {
		expected[c.session]++
		if err := c.wire.Connect(ctx); err != nil {
			c.violate(0, "does not connect: %v", err)
		}
	}
	r.until(ctx, "clients attach", func(s *protocol.Summary) bool { return s.Clients >= expected[s.Session] })
	last := map[string]string{}
	for i, id := range r.sessions {
		last[id] = newToken("k0", 2*r.Sessions+i)
		r.sendAsOperator(ctx, id, r.isACP(i), last[id])
	}
	states := map[string]*protocol.State{}
	r.drain(ctx)
	for _, id := range r.sessions {
		states[id] = must[protocol.SnapshotResult](ctx, r, protocol.DoSnapshot, id, nil).Snapshot.State
	}
	for _, c := range r.clients {
		for !c.sawEnd(last[c.session]) || c.native && c.position() < states[c.session].Seq {
			if wait(ctx, 20*time.Millisecond); ctx.Err() != nil {
				c.violate(0, "%s client does not get the last turn", c.protocol)
				break
			}
		}
		if c.native {
			c.compare(states[c.session])
		}
	}
}

// audit reads every log from the start and compares it with what was seen and answered.
func (r *run) audit(ctx context.Context) {
	for _, id := range r.sessions {
		end := must[protocol.SnapshotResult](ctx, r, protocol.DoSnapshot, id, nil).Snapshot.State.Seq
		log := r.check.readLog(id)
		sub := r.operator.wire.Subscribe(id, wsclient.SubscribeOptions{Since: &protocol.Position{}, Raw: true})
		for it, err := range sub.Events(ctx) {
			if err == nil && it.Event != nil && it.Event.Durable() {
				err = log.apply(it.Event, it.Raw)
			}
			if err != nil {
				r.t.Fatalf("read the log of %s: %v", id, err)
			}
			if it.Event != nil && it.Event.Seq >= end {
				break
			}
		}
		sub.Close()
		log.finish()
	}
}

// report logs the numbers of the run.
func (r *run) report(took time.Duration, peak int64, before, after *usage) {
	var events int64
	for _, c := range r.clients {
		events += c.delivered()
	}
	n := &r.count
	r.t.Logf("seed %d, %.0f s: %d commands acknowledged, %d events delivered, %d connections, %d of them cut",
		r.Seed, took.Seconds(), n.acknowledged.Load(), events, n.dials.Load(), n.cuts.Load())
	r.t.Logf("%d kills of the server, %d of agents; %d times a client gave up dialling", n.kills.Load(),
		n.agentKills.Load(), n.offline.Load())
	r.t.Logf("peak memory %d MiB; goroutines %d before, %d after; descriptors %d, %d; heap %d, %d MiB",
		peak, before.goroutines(), after.goroutines(), before.Files, after.Files, before.Heap, after.Heap)
	for _, why := range slices.Sorted(maps.Keys(r.refusal)) {
		r.t.Logf("%6d not acknowledged: %s", r.refusal[why], strings.TrimSpace(why))
	}
}
