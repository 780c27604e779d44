// Package e2e proves what agentctl promises from end to end: real clients of a real server with a real store, over
// connections in memory, with the script agent. It holds tests and benchmarks only and may import everything.
package e2e
