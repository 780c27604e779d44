package server

import (
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A view is what the client sees of the session.
type view struct {
	x     *exchange
	sub   *codec.Subscription // State is nil without a session
	turn  turnEncoder
	size  transcriptSize // of the current turn
	shown shownApproval
}

// reset starts another view of the session.
func (v *view) reset() {
	v.turn.reset()
	v.size, v.shown = transcriptSize{}, shownApproval{}
}

// event returns the messages for an event that the subscription applied.
func (v *view) event(e *protocol.Event) []message {
	if v.size.add(e); e.Type == protocol.TurnEnded { // it is in the history from now on
		v.size = transcriptSize{}
	}
	out := v.turn.event(v.x.Now, e)
	switch e.Type {
	case protocol.TurnEnded:
		v.shown = shownApproval{}
	case protocol.ApprovalRequested:
		out = append(out, v.showNextApproval()...)
	case protocol.ApprovalExplained:
		out = append(out, v.explainApproval(e, codec.DecodeEvent[protocol.ApprovalExplainedData](e))...)
	case protocol.ApprovalResolved:
		out = append(out, v.resolveApproval(e, codec.DecodeEvent[protocol.ApprovalResolvedData](e))...)
	}
	return out
}
