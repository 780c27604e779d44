package myagent

import (
	"slices"
	"sync"

	"agentctl/protocol"
)

// maxMarks is how many frames back a connection can be resumed.
const maxIndexedFrames = 1000

// A mark says where in a session's log a frame came from.
type frameOrigin struct {
	seq      uint64 // of the frame
	session  string
	position protocol.Position // of its event
	part     int               // which of the event's frames it was, from 0
	boundary uint64            // the seq before the event's turn: where telling can begin anew
}

// before reports whether a frame lies at or before the mark.
func (m *frameOrigin) covers(seq uint64, part int) bool {
	return seq < m.position.Seq || seq == m.position.Seq && part <= m.part
}

// marks are the newest frames of one connection. Codecs of later connections read them, so a mutex guards them.
type frameIndex struct {
	mu     sync.Mutex
	frames []frameOrigin
	acked  uint64
}

func (m *frameIndex) add(k frameOrigin) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.frames) == 2*maxIndexedFrames {
		m.frames = slices.Delete(m.frames, 0, maxIndexedFrames)
	}
	m.frames = append(m.frames, k)
}

// ack says that the client has everything up to seq. What is before the last mark of a session that it covers is forgotten.
func (m *frameIndex) ack(seq uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acked = max(m.acked, seq)
	last := map[string]uint64{}
	for _, k := range m.frames {
		if k.seq <= m.acked {
			last[k.session] = k.seq
		}
	}
	m.frames = slices.DeleteFunc(m.frames, func(k frameOrigin) bool { return k.seq < last[k.session] })
}

// find returns the last mark of a session at or before a frame's seq, or before what the client acknowledged if that is later.
func (m *frameIndex) lastBefore(session string, seq uint64) (frameOrigin, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	seq = max(seq, m.acked)
	for _, k := range slices.Backward(m.frames) {
		if k.session == session && k.seq <= seq {
			return k, true
		}
	}
	return frameOrigin{}, false
}

// of returns the frame's seq that an event's frame had on this connection; 0: none or forgotten.
func (m *frameIndex) seqOf(session string, at protocol.Position, part int) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.frames {
		if k.session == session && k.position == at && k.part == part {
			return k.seq
		}
	}
	return 0
}
