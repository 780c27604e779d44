// Package wire has the messages of the Multi-Agent-Intelligence protocol, as both ends send and
// decode them: types, payloads, error codes, bounds, and agentctl's extension that answers messages
// with a key. It must not know sessions or turns.
package wire

// Name is the name of the dialect.
const Name = "multiagent"
