// Package completion completes arguments that a server knows: sessions, agents, and messages,
// turns, requests, holds, rules and tasks of a session. It starts no server, and waits at most a
// second.
//
// Values that are fixed are completed by package verb.
package completion
