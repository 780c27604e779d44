package main

import (
	"context"
	"sync"
	"time"
)

// A bench measures one row.
type bench struct {
	options
	dir     string
	row     string
	servers []interface{ stop() error }
	samples report
}

// rows lists the measurements in their order.
var rows = []struct {
	name    string
	measure func(context.Context, *bench) error
}{
	{"fan-out", measureFanOut},
	{"100 sessions × 10", measureSessions},
	{"latency", measureLatency},
	{"attach", measureAttach},
	{"catch-up", measureCatchUp},
	{"append", measureAppend},
	{"flood", measureFlood},
}

// rowLimit is the time after which a row fails.
const rowLimit = 10 * time.Minute

// measure measures the row, and stops the servers that it started.
func (b *bench) measure(ctx context.Context, row func(context.Context, *bench) error) error {
	ctx, cancel := context.WithTimeout(ctx, rowLimit)
	defer cancel()
	defer func() {
		for _, s := range b.servers {
			_ = s.stop() // a second stop does nothing
		}
	}()
	return row(ctx, b)
}

// add adds a sample.
func (b *bench) add(of, server, unit string, value float64) {
	b.samples = append(b.samples, sample{measurement{b.row, of, server, unit}, value})
}

// pick returns quick in the quick mode, else full.
func (b *bench) pick(quick, full int) int {
	if b.Quick {
		return quick
	}
	return full
}

// A loaded server is one whose deliveries are measured.
type loaded interface {
	String() string

	// create returns a new session.
	create(ctx context.Context) (string, error)

	// publish begins a job in sessions.
	publish(ctx context.Context, j job, ids ...string) error

	// follow connects a client to a session at its end.
	follow(ctx context.Context, id string) (*client, error)

	// cpu returns the processor time that the server has used, in seconds.
	cpu() (float64, error)
}

// loadedServers starts the servers whose deliveries are compared.
func (b *bench) loadedServers(ctx context.Context) ([]loaded, error) {
	s, err := b.start(ctx, "")
	if err != nil || !b.Peers {
		return []loaded{s}, err
	}
	all := []loaded{s}
	for kind := range peerKinds {
		p, err := startPeer(ctx, kind)
		if err != nil {
			return nil, err
		}
		b.servers = append(b.servers, p)
		all = append(all, p)
	}
	return all, nil
}

// dialing is the number of clients that connect at the same time: fewer than a server takes before
// they are authenticated.
const dialing = 128

// connect connects n clients by dial.
func connect(n int, dial func(i int) (*client, error)) ([]*client, error) {
	clients := make([]*client, n)
	slots := make(chan struct{}, dialing)
	err := parallel(n, func(i int) (err error) {
		slots <- struct{}{}
		defer func() { <-slots }()
		clients[i], err = dial(i)
		return err
	})
	if err != nil {
		closeAll(clients)
	}
	return clients, err
}

// closeAll closes clients.
func closeAll(clients []*client) {
	for _, c := range clients {
		if c != nil {
			c.close()
		}
	}
}

// readAll lets every client read n deltas, concurrently.
func readAll(clients []*client, n int) error {
	return parallel(len(clients), func(i int) error { return clients[i].readDeltas(n) })
}

// parallel calls f for 0 to n-1 concurrently, and returns the first error.
func parallel(n int, f func(i int) error) error {
	errs := make([]error, n)
	var g sync.WaitGroup
	for i := range n {
		g.Go(func() { errs[i] = f(i) })
	}
	g.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
