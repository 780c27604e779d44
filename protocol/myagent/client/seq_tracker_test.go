package client

import (
	"testing"
)

// A frame may arrive after later ones. A frame that never arrives is missing, also if a later one
// did not have to wait.
func TestASeqTrackerKnowsWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		arrived   []uint64
		from, seq uint64
		want      bool
	}{
		{[]uint64{1, 2, 3}, 0, 4, true},
		{[]uint64{1, 2, 5, 3, 4}, 2, 6, true},
		{[]uint64{1, 2, 4}, 2, 5, false},
		{[]uint64{1, 2, 4}, 3, 5, true},
		{[]uint64{1, 2}, 2, 5, false},
		{nil, 0, 0, true}, // a server without seqs
	} {
		var tracker seqTracker
		for _, seq := range c.arrived {
			tracker.add(seq)
		}
		if got := tracker.follows(c.from, c.seq); got != c.want {
			t.Errorf("%d after %d of %d: %t", c.seq, c.from, c.arrived, got)
		}
	}
	var tracker seqTracker
	for seq := uint64(1); seq < 10000; seq++ {
		if tracker.add(seq); !tracker.follows(0, seq+1) {
			t.Fatalf("%d is missing", seq)
		}
	}
	if len(tracker.newest) > 4*maxHeldFrames {
		t.Errorf("%d seqs are kept", len(tracker.newest))
	}
}
