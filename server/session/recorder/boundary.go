package recorder

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

// A boundary is the state at the end of the last visible turn, encoded.
type boundary struct {
	snapshot []byte // nil: no turn has ended
	seq      uint64
}

// EndTurn adds the snapshot and the index entry of a turn, which e has ended, to the next batch.
func (r *Recorder) EndTurn(st *protocol.TurnState, e *protocol.Event) {
	b := r.journal.NextBatch()
	b.Snapshot, b.SnapSeq = protocol.MustEncode(r.state), r.state.Seq
	r.journal.AfterCommit(func(failed error) {
		if failed == nil {
			r.boundary = boundary{b.Snapshot, b.SnapSeq}
		}
	})
	b.Turns = append(b.Turns, eventlog.TurnRow{
		Turn:      st.Turn,
		MessageID: st.Message.MessageID,
		First:     st.First,
		Last:      e.Seq,
		Reason:    string(r.state.Last.Reason),
		Ended:     e.Time,
	})
}

// Subscribe returns where a subscription begins: after a position, or after the snapshot of the last
// boundary, with a reason if the position cannot be resumed. nil: no position. A snapshot that is
// too large is refused with too_large.
func (r *Recorder) Subscribe(p *protocol.Position) (protocol.SubscribeResult, error) {
	now := r.journal.Log().Position()
	result := protocol.SubscribeResult{Session: r.state.Session, Mode: protocol.ModeSnapshot, Position: now}
	if p != nil {
		switch {
		case p.Epoch != "" && p.Epoch != now.Epoch:
			result.Mode, result.Reason = protocol.ModeReset, protocol.ResetEpoch
		case p.Seq > now.Seq:
			result.Mode, result.Reason = protocol.ModeReset, protocol.ResetPastEnd
		default:
			result.Mode, result.After = protocol.ModeResume, protocol.Position{Epoch: now.Epoch, Seq: p.Seq}
			return result, nil
		}
	}
	if len(r.boundary.snapshot) > protocol.MaxResult {
		return result, protocol.Exceeded(protocol.CodeTooLarge, protocol.MaxResult,
			"the state of the session is too large: remove messages from its queue")
	}
	result.After = protocol.Position{Epoch: now.Epoch, Seq: r.boundary.seq}
	result.Snapshot = &protocol.Snapshot{Epoch: now.Epoch, State: r.boundaryState()}
	return result, nil
}

// boundaryState decodes the state at the last turn boundary; before the first one it is the state
// of a session without events.
func (r *Recorder) boundaryState() *protocol.State {
	state := &protocol.State{Session: r.state.Session}
	if r.boundary.snapshot != nil {
		if err := json.Unmarshal(r.boundary.snapshot, state); err != nil {
			r.log().Error("decode snapshot", "err", err)
		}
	}
	return state
}
