// Package e2e tests agentctl end to end: real clients, a real server and a real store, over
// in-memory connections, with the script agent. It holds only tests and benchmarks and may import
// every package.
package e2e
