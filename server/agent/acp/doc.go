// Package acp drives any agent that speaks the Agent Client Protocol, version 1, as a subprocess over stdio.
//
// It owns the agent's process, the conversation with it, and the mapping between that protocol and the project's events,
// approvals and settings. It must not know how sessions keep or show what it tells them, nor who listens.
//
// One goroutine reads what the agent says and waits for the session to take each event, so a slow log slows the agent and
// nothing is dropped. The agent's own history is never shown: the session's log is the authority, and what an agent replays
// when it takes up a conversation is dropped.
package acp
