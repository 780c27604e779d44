// Command bench loads a server with many clients and measures what it delivers, and what that costs.
//
// The server is a separate process: this program with -serve. It has its store, a token and
// acknowledgements. Connections go to the loopback interface only.
//
//	go run ./internal/dev/bench            # every row; about five minutes
//	go run ./internal/dev/bench -quick     # fewer events and clients; under two minutes
//	go run ./internal/dev/bench -only fan  # rows whose name contains "fan"
//	go run ./internal/dev/bench -peers     # also nats-server and redis-server of PATH
//
// The program fails if a client loses or repeats an event. It never fails because of a figure.
// docs/performance.md has the method and results. The program knows no part of the server: a part is
// measured by Go benchmarks beside it.
package main
