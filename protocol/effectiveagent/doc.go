// Package effectiveagent implements the WebSocket protocol of EffectiveAgent: send, subscribe and
// unsubscribe by agent runtime id, answered by activities and structured errors. server is the
// codec at agentctl's server, client the one at agentctl's client.
//
// The payload of an activity is a user's message or the data of a native event. Its metadata holds
// a note, under the key agentctl, that names the event. Clients of that system read the payload and
// ignore the note; agentctl's client restores every event from it. For a server without notes the
// client makes turns of the activities.
//
// The client routes commands and messages. The exchange has the commands without an answer; a session
// records activities, and its turns begin and end.
//
// The client codec keeps state over connections in codec.ClientState: each session's log, its
// position at the server, and the keys of unanswered sends. The package imports only protocol and
// protocol/codec.
package effectiveagent
