package client

import (
	"encoding/json"
	"hash/fnv"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// A turn decodes the chat events of the current turn, or the parts of a finished one. Its methods
// return the events to record, in order. st is the session's state before these events.
type turn struct {
	id             string
	peerIsAgentctl bool
	decisions      *codec.Decisions // of the session

	answer          *string // its message in the history; nil: unknown
	tools           map[string]*tool
	bytes           int             // of outputs
	nativeApprovals map[string]bool // approvals that arrived as native events, as their ends will
	approvalTools   map[string]bool // tool calls that represent such approvals
	lastError       *string         // an error that may end the turn
	finish          string
	usage           *protocol.Usage
	context         int64                   // tokens of the model's last answer
	nativeEnd       *protocol.TurnEndedData // from agentctl's server

	buffered   int // events in the server's buffer
	bufferHash uint64
}

func newTurn(id string, peerIsAgentctl bool, decisions *codec.Decisions) *turn {
	return &turn{
		id: id, peerIsAgentctl: peerIsAgentctl, decisions: decisions, tools: map[string]*tool{},
		nativeApprovals: map[string]bool{}, approvalTools: map[string]bool{},
	}
}

// event returns an event of the turn.
func (t *turn) event(typ protocol.Type, data any) codec.Entry {
	return codec.Entry{Type: typ, Turn: t.id, Data: data}
}

// raw returns the event of a message without a native equivalent.
func (t *turn) raw(method string, message []byte) []codec.Entry {
	return []codec.Entry{rawEntry(t.id, codec.Excerpt(method), message)}
}

// end returns the end of the turn for a reason of the protocol.
func (t *turn) end(now time.Time, st *protocol.State, reason string) protocol.TurnEndedData {
	if t.nativeEnd != nil && wire.StopReason(t.nativeEnd.Reason) == reason {
		return *t.nativeEnd
	}
	end := protocol.TurnEndedData{Reason: wire.ReasonOf(reason, t.finish), Usage: t.usage}
	if st.Turn != nil {
		end.DurationMS = max(0, now.Sub(st.Turn.Started).Milliseconds())
	}
	if t.lastError != nil {
		end.Message = *t.lastError
	}
	if end.Reason == protocol.ReasonError {
		end.Code = protocol.CodeAgentFailed
		if end.Message == "" {
			end.Message = "the turn failed: the server does not report why, its log may"
		}
	}
	return end
}

// noteBuffered notes a chat event that the server keeps for later subscribers.
func (t *turn) noteBuffered(raw []byte) {
	t.buffered++
	t.bufferHash = hashNext(t.bufferHash, raw)
}

// continuedBy reports whether a buffer begins with all known events of the turn.
func (t *turn) continuedBy(buffer []json.RawMessage) bool {
	if len(buffer) < t.buffered {
		return false
	}
	var s uint64
	for _, raw := range buffer[:t.buffered] {
		s = hashNext(s, raw)
	}
	return s == t.bufferHash
}

// hashNext hashes raw, seeded with the hash of the preceding data.
func hashNext(seed uint64, raw []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte{
		byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24), byte(seed >> 32), byte(seed >> 40),
		byte(seed >> 48), byte(seed >> 56),
	})
	_, _ = h.Write(raw)
	return h.Sum64()
}

// resolve returns the end of a pending approval.
func resolve(st *protocol.State, by *protocol.Actor, d protocol.ApprovalResolvedData) []codec.Entry {
	a := st.PendingApproval(d.Request)
	if a == nil {
		return nil
	}
	return []codec.Entry{{Type: protocol.ApprovalResolved, Turn: a.Turn, Task: a.Task, By: by, Data: d}}
}
