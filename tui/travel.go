package tui

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// Kinds of items that one can go to.
const (
	aTurn transcript.AnchorKind = 1 + iota
	aTool
	anApproval
	anError
)

var kindNames = map[transcript.AnchorKind]string{aTurn: "turn", aTool: "tool call", anApproval: "approval", anError: "error"}

// nameOfItem is what an item is called on the list: its turn, its kind and its
// id. An error has its seq for an id, the end of a turn that failed has theEnd.
func nameOfItem(turn string, kind protocol.HitKind, id string) string {
	return turn + " " + string(kind) + " " + id
}

const theEnd = "end"

// nameOfHit is what the item of a hit is called.
func nameOfHit(h *protocol.Hit) string {
	id := h.Item
	switch {
	case h.Kind == protocol.HitUser:
		id = ""
	case h.Kind == protocol.HitError && h.Seq == h.First:
		id = theEnd
	case h.Kind == protocol.HitError:
		id = seqName(h.Seq)
	}
	return nameOfItem(h.Turn, h.Kind, id)
}

func seqName(seq uint64) string { return strconv.FormatUint(seq, 10) }

// landmark makes an item one that can be gone to.
type landmark struct {
	kind transcript.AnchorKind
	name string
}

// Anchor implements transcript.Landmark.
func (l landmark) Anchor() (transcript.AnchorKind, string) { return l.kind, l.name }

// trip goes to what may not be in memory: older turns are paged in until it is.
// The next key gives it up.
type trip struct {
	reach func() bool // goes there, if it is in memory
	until uint64      // no turn before this one is paged in; 0: any is
	gone  string      // told when it is nowhere
}

// pageMost is how many turns a trip pages in at a time.
const pageMost = 100

// travel begins a trip, or goes on with it when older turns have come.
func (m *model) travel(t *trip) tea.Cmd {
	if t == nil {
		return nil
	}
	if m.trip == t {
		m.word = ""
	}
	m.trip = nil
	if t.reach() {
		return nil
	}
	if before := m.story.before; !m.story.loading && (before == 0 || before <= t.until) {
		m.word = t.gone
		return nil
	}
	m.trip, m.word = t, "looking further back …"
	return m.pageNow()
}

// jump goes to the nearest item of a kind before the one that is selected, or at
// the top of the screen (by < 0), or after it.
func (m *model) jump(kind transcript.AnchorKind, by int) tea.Cmd {
	list := m.story.list
	from, selecting := list.Selected()
	if !selecting {
		from = list.TopItem()
		if list.Following() && by > 0 {
			from = list.Last()
		}
	}
	reach := func() bool {
		id, ok := list.NextAnchor(kind, from, by)
		if !ok {
			return false
		}
		if selecting {
			list.SelectItem(id)
		}
		if kind == aTurn {
			list.ScrollToItem(id)
		} else {
			list.SelectLine(id, 0)
			if !selecting {
				list.ClearSelection()
			}
		}
		return true
	}
	if by < 0 {
		return m.travel(&trip{reach: reach, gone: "there is no " + kindNames[kind] + " before"})
	}
	if !reach() {
		if kind == aTurn {
			list.ScrollToBottom()
			return nil
		}
		m.word = "there is no " + kindNames[kind] + " after"
	}
	return nil
}
