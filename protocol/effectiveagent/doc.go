// Package effectiveagent speaks the WebSocket protocol of EffectiveAgent: send, subscribe and unsubscribe by agent runtime id,
// activities and structured errors back. Server is the codec at our server's end, Client the one at our client's.
//
// An activity's payload is what a person said, or the data of a native event; its metadata has a note, under the key agentctl,
// that says which event it is. A client of that system reads the payload and never needs the note; our client gets by it
// every event as it was. With a server that leaves no notes our client makes turns of what it sees.
//
// The package is pure and imports only protocol and protocol/codec.
package effectiveagent
