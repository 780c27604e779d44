// Package wire has the messages of the Multi-Agent-Intelligence protocol, as both ends send and
// decode them: types, payloads, error codes, bounds, and agentctl's extension that answers messages
// with a key. It knows no session and no turn.
package wire

// Name is the name of the dialect.
const Name = "multiagent"
