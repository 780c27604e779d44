// Package tour is the guide of "agentctl tour": steps that name a key and wait for its effect, and
// the panel that shows the current one. It owns the table of the steps. It observes the state of
// the program after each message. It must not know servers, connections or how a key gets its
// effect.
package tour
