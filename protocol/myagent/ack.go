package myagent

import "slices"

// maxReceipts bounds how many frames may wait for our client's acknowledgement.
const maxUnackedFrames = 4096

// receipts tell which of a server's frames may be acknowledged: those before the first that our client did not take yet. The
// server's seqs have gaps and come out of order, so what counts is the highest of those.
type ackTracker struct {
	frames  []receivedFrame
	settled uint64 // of the settled frames
	acked   uint64 // acknowledged
}

type receivedFrame struct {
	seq     uint64 // the frame's
	session *session
	logSeq  uint64 // seq of the log after it
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

// acked settles what our client took of a session and returns the seq to acknowledge; 0: nothing new.
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
