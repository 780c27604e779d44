package server

import (
	"slices"
	"sync"

	"agentctl/protocol"
)

// maxIndexedFrames is the number of frames that a client can resume from.
const maxIndexedFrames = 1000

// A frameOrigin is the place in a session's log that a frame came from.
type frameOrigin struct {
	seq      uint64 // of the frame
	session  string
	position protocol.Position // of its event
	part     int               // index of the frame among the event's frames
	boundary uint64            // the seq before the event's turn, where encoding can restart
}

// covers reports whether a frame precedes or equals this one.
func (m *frameOrigin) covers(seq uint64, part int) bool {
	return seq < m.position.Seq || seq == m.position.Seq && part <= m.part
}

// A frameIndex holds the newest frames of one connection. Codecs of later connections read it, so a
// mutex guards it.
type frameIndex struct {
	mu     sync.Mutex
	frames []frameOrigin
	acked  uint64
}

func (m *frameIndex) add(o frameOrigin) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.frames) == 2*maxIndexedFrames {
		m.frames = slices.Delete(m.frames, 0, maxIndexedFrames)
	}
	m.frames = append(m.frames, o)
}

// ack drops the frames up to seq that the client has, except each session's last.
func (m *frameIndex) ack(seq uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acked = max(m.acked, seq)
	last := map[string]uint64{}
	for _, o := range m.frames {
		if o.seq <= m.acked {
			last[o.session] = o.seq
		}
	}
	m.frames = slices.DeleteFunc(m.frames, func(o frameOrigin) bool { return o.seq < last[o.session] })
}

// lastBefore returns a session's last frame up to seq, or up to the acknowledged seq if that is
// later.
func (m *frameIndex) lastBefore(session string, seq uint64) (frameOrigin, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	seq = max(seq, m.acked)
	for _, o := range slices.Backward(m.frames) {
		if o.session == session && o.seq <= seq {
			return o, true
		}
	}
	return frameOrigin{}, false
}

// seqOf returns the seq of an event's frame on this connection, or 0 if it is unknown.
func (m *frameIndex) seqOf(session string, at protocol.Position, part int) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range m.frames {
		if o.session == session && o.position == at && o.part == part {
			return o.seq
		}
	}
	return 0
}
