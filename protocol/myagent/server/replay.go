package server

import (
	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// Bounds of a replay: the newest frames, in count and bytes.
const (
	maxReplay      = 200
	maxReplayBytes = 8 << 20
)

// A replay collects the frames of a session for the session that continues it.
type replay struct {
	encoder
	target     string // session to send the frames in
	epoch      string
	received   *frameOrigin // last frame that the client has; nil: none
	connection string       // the client's previous connection
	sentFrames *frameIndex  // of that connection; nil: unknown
	frames     []replayedFrame
	bytes      int
	done       func() // called after the replay
}

type replayedFrame struct {
	wire.Frame
	at   protocol.Position
	part int
	size int
}

// collect adds the frames of an event.
func (r *replay) collect(e *protocol.Event) {
	if e.First() <= r.state.Seq {
		return
	}
	for i, f := range r.encode(e) {
		if r.received != nil && r.received.covers(e.Seq, i) {
			continue
		}
		r.frames = append(r.frames, replayedFrame{f, protocol.Position{Epoch: r.epoch, Seq: e.Seq}, i, len(e.Data)})
		r.bytes += len(e.Data)
	}
	for len(r.frames) > maxReplay || r.bytes > maxReplayBytes && len(r.frames) > 1 {
		r.bytes -= r.frames[0].size
		r.frames[0] = replayedFrame{}
		r.frames = r.frames[1:]
	}
}

// finishReplay sends the collected frames with their original seqs, and a notice with their count.
func (l *subscriptions) finishReplay(sub *subscription, r *replay) {
	m := wire.Meta{"action": wire.ActionReplay, "replayed": len(r.frames), "count": len(r.frames)}
	for _, old := range r.frames {
		fr := old.Frame
		fr.Session = r.target
		fr.Meta["replayed"], fr.Meta["orig_session_id"], fr.Meta["orig_seq"] = true, sub.session, old.at.Seq
		if r.sentFrames != nil {
			if seq := r.sentFrames.seqOf(sub.session, old.at, old.part); seq > 0 {
				fr.Meta["orig_seq"], fr.Meta["orig_event_id"] = seq, wire.EventID(r.connection, seq)
			}
		}
		seq := l.x.send(fr)
		m["last_seq"], m["last_event_id"] = seq, wire.EventID(l.x.id, seq)
	}
	if len(r.frames) == 0 {
		l.sendNothingToReplay(r.target)
	} else {
		l.x.sendNotice(r.target, "", "Replayed buffered events", m)
	}
	if !sub.live {
		delete(l.bySession, sub.session)
		l.x.Request(protocol.DoUnsubscribe, sub.session, "", nil, nil)
	}
	r.done()
}

// sendNothingToReplay sends the notice of an empty replay.
func (l *subscriptions) sendNothingToReplay(session string) {
	l.x.sendNotice(session, "", "No buffered events available for replay", wire.Meta{
		"action": wire.ActionReplay, "count": 0, "replayed": 0,
	})
}
