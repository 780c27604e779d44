// Command scaling simulates many sessions and clients over several machines, second by second, with
// the measured costs of one server. It names the resource that is exhausted first.
//
//	go run ./internal/scaling                        # 100,000 sessions and 1,000,000 clients
//	go run ./internal/scaling -machines 40 -skew 1   # on 40, most clients at few sessions
//	go run ./internal/scaling -shared                # with a store that all machines share
//
// A session lives on one machine, which has its log and all its clients, as the servers of this
// repository do. docs/scaling.md has the costs, where they were measured, and results.
package main
