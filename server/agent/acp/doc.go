// Package acp runs any agent that speaks the Agent Client Protocol, as a subprocess over standard
// input and output or at an address elsewhere. The package has the form of version 1; a wire translates version 2.
//
// It owns the process of the agent, the ACP session in it, and the mapping of its messages to
// events, approvals and settings. It must not know how sessions store or show events, nor which
// clients are connected.
//
// One goroutine reads the messages of the agent and waits until the session has accepted each
// event. A slow log therefore slows the agent, and no message is dropped. The log of the session is
// the authority: history that an agent replays when it restores an ACP session is dropped.
package acp
