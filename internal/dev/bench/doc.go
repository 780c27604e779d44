// Command bench measures agentctl and, interleaved with it, two references written in Go: a ring,
// one buffer of encoded lines for each session with a cursor for each client over plain TCP, which
// is the limit of this design; and a broadcast over a channel for each client with one write per
// event.
//
// Every server is a process of its own: this program with -serve. The agentctl server is the real
// one, with its store, a token and acknowledgements. Connections go to the loopback interface only.
//
//	go run ./internal/dev/bench            # every row; about ten minutes
//	go run ./internal/dev/bench -quick     # fewer events and clients; under five minutes
//	go run ./internal/dev/bench -only fan  # rows whose name contains "fan"
//	go run ./internal/dev/bench -peers     # also nats-server, redis-server and SQLite's C library
//
// The program fails if a client loses or repeats an event. It never fails because of a figure.
// docs/performance.md has the method and results.
package main
