package client

import (
	"slices"
)

// maxHeldFrames bounds the frames that a server sends while it holds a piece of an answer.
const maxHeldFrames = 64

// A seqTracker knows the seqs of the newest frames of a connection.
type seqTracker struct {
	highest uint64
	newest  []uint64 // in the order of arrival
}

// add notes a frame that arrived. A frame without a seq has 0.
func (t *seqTracker) add(seq uint64) {
	if seq == 0 {
		return
	}
	t.highest = max(t.highest, seq)
	if len(t.newest) == 4*maxHeldFrames {
		t.newest = slices.Delete(t.newest, 0, 2*maxHeldFrames)
	}
	t.newest = append(t.newest, seq)
}

// follows reports whether every frame between two seqs arrived. A frame that was sent more than
// maxHeldFrames before seq is not missing: it was never held.
func (t *seqTracker) follows(from, seq uint64) bool {
	if seq > maxHeldFrames {
		from = max(from, seq-maxHeldFrames)
	}
	for n := from + 1; n < seq; n++ {
		if !slices.Contains(t.newest, n) {
			return false
		}
	}
	return true
}
