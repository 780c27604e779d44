package myagent

import (
	"slices"
	"sync"

	"agentctl/protocol"
)

// maxMarks is how many frames back a connection can be resumed.
const maxMarks = 1000

// A mark says where in a session's log a frame came from.
type mark struct {
	seq      uint64 // of the frame
	session  string
	at       protocol.Position // of its event
	part     int               // which of the event's frames it was, from 0
	boundary uint64            // the seq before the event's turn: where telling can begin anew
}

// before reports whether a frame lies at or before the mark.
func (m *mark) covers(seq uint64, part int) bool {
	return seq < m.at.Seq || seq == m.at.Seq && part <= m.part
}

// marks are the newest frames of one connection. Codecs of later connections read them, so a mutex guards them.
type marks struct {
	mu    sync.Mutex
	list  []mark
	acked uint64
}

func (m *marks) add(k mark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.list) == 2*maxMarks {
		m.list = slices.Delete(m.list, 0, maxMarks)
	}
	m.list = append(m.list, k)
}

// ack says that the client has everything up to seq. What is before the last mark of a session that it covers is forgotten.
func (m *marks) ack(seq uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acked = max(m.acked, seq)
	last := map[string]uint64{}
	for _, k := range m.list {
		if k.seq <= m.acked {
			last[k.session] = k.seq
		}
	}
	m.list = slices.DeleteFunc(m.list, func(k mark) bool { return k.seq < last[k.session] })
}

// find returns the last mark of a session at or before a frame's seq, or before what the client acknowledged if that is later.
func (m *marks) find(session string, seq uint64) (mark, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	seq = max(seq, m.acked)
	for _, k := range slices.Backward(m.list) {
		if k.session == session && k.seq <= seq {
			return k, true
		}
	}
	return mark{}, false
}

// of returns the frame's seq that an event's frame had on this connection; 0: none or forgotten.
func (m *marks) of(session string, at protocol.Position, part int) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.list {
		if k.session == session && k.at == at && k.part == part {
			return k.seq
		}
	}
	return 0
}
