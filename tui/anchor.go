package tui

import (
	"strconv"

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

// nameOfItem names an item in the list by its turn, its kind and its id. The id of an error is its seq; the
// end of a turn that failed has the id turnEnd.
func nameOfItem(turn string, kind protocol.HitKind, id string) string {
	return turn + " " + string(kind) + " " + id
}

const turnEnd = "end"

// nameOfHit names the item of a hit.
func nameOfHit(h *protocol.Hit) string {
	id := h.Item
	switch {
	case h.Kind == protocol.HitUser:
		id = ""
	case h.Kind == protocol.HitError && h.Seq == h.First:
		id = turnEnd
	case h.Kind == protocol.HitError:
		id = nameOfSeq(h.Seq)
	}
	return nameOfItem(h.Turn, h.Kind, id)
}

func nameOfSeq(seq uint64) string { return strconv.FormatUint(seq, 10) }

// anchor makes an item one that can be gone to.
type anchor struct {
	kind transcript.AnchorKind
	name string
}

// Anchor implements transcript.Anchor.
func (a anchor) Anchor() (transcript.AnchorKind, string) { return a.kind, a.name }
