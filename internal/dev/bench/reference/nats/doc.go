// Command nats runs a NATS server with WebSocket and JetStream, as a reference of internal/dev/bench. It
// is a module of its own, so that agentctl does not depend on NATS.
package main
