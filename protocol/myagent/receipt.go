package myagent

import "slices"

// maxReceipts bounds how many frames may wait for our client's acknowledgement.
const maxReceipts = 4096

// receipts tell which of a server's frames may be acknowledged: those before the first that our client did not take yet. The
// server's seqs have gaps and come out of order, so what counts is the highest of those.
type receipts struct {
	list []receipt
	high uint64 // of the settled frames
	said uint64 // acknowledged
}

type receipt struct {
	seq     uint64 // the frame's
	session *session
	upto    uint64 // seq of the log after it
}

func (r *receipts) took(seq uint64, s *session) {
	if seq == 0 {
		return
	}
	k := receipt{seq: seq, session: s}
	if s != nil {
		k.upto = s.log.State.Seq
	}
	if len(r.list) == maxReceipts {
		r.list = slices.Delete(r.list, 0, maxReceipts/2)
	}
	r.list = append(r.list, k)
}

// acked settles what our client took of a session and returns the seq to acknowledge; 0: nothing new.
func (r *receipts) acked(s *session, seq uint64) uint64 {
	n := 0
	for _, k := range r.list {
		if k.session == s && k.upto > seq || k.session != nil && k.session != s && k.session.log.Following() {
			break
		}
		r.high = max(r.high, k.seq)
		n++
	}
	r.list = slices.Delete(r.list, 0, n)
	if r.high <= r.said {
		return 0
	}
	r.said = r.high
	return r.said
}
