package client

import (
	"slices"
)

// maxUnackedFrames bounds the frames that await the client's acknowledgement.
const maxUnackedFrames = 4096

// An ackTracker finds the frames to acknowledge: all before the first missing one. Seqs have gaps
// and can arrive out of order, so it acknowledges the highest seq before that.
type ackTracker struct {
	frames  []receivedFrame
	settled uint64 // highest acknowledgeable seq
	acked   uint64 // highest acknowledged seq
}

type receivedFrame struct {
	seq     uint64 // of the frame
	session *session
	logSeq  uint64 // seq of the log after the frame
}

func (r *ackTracker) add(seq uint64, s *session) {
	if seq == 0 {
		return
	}
	k := receivedFrame{seq: seq, session: s}
	if s != nil {
		k.logSeq = s.log.State.Seq
	}
	if len(r.frames) == maxUnackedFrames {
		r.frames = slices.Delete(r.frames, 0, maxUnackedFrames/2)
	}
	r.frames = append(r.frames, k)
}

// ack settles the frames up to a session's seq. It returns the seq to acknowledge, or 0 if nothing
// is new.
func (r *ackTracker) ack(s *session, seq uint64) uint64 {
	n := 0
	for _, k := range r.frames {
		if k.session == s && k.logSeq > seq || k.session != nil && k.session != s && k.session.log.Following() {
			break
		}
		r.settled = max(r.settled, k.seq)
		n++
	}
	r.frames = slices.Delete(r.frames, 0, n)
	if r.settled <= r.acked {
		return 0
	}
	r.acked = r.settled
	return r.acked
}
