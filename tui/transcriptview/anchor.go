package transcriptview

import (
	"strconv"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// Kinds of items that one can go to.
const (
	TurnAnchor transcript.AnchorKind = 1 + iota
	ToolAnchor
	ApprovalAnchor
	ErrorAnchor
)

// AnchorName names an item in the list by its turn, its kind and its id. The id of an error is its seq; the
// end of a turn that failed has the id turnEnd.
func AnchorName(turn string, kind protocol.HitKind, id string) string {
	return turn + " " + string(kind) + " " + id
}

const turnEnd = "end"

// HitAnchor names the item of a hit.
func HitAnchor(h *protocol.Hit) string {
	id := h.Item
	switch {
	case h.Kind == protocol.HitUser:
		id = ""
	case h.Kind == protocol.HitError && h.Seq == h.First:
		id = turnEnd
	case h.Kind == protocol.HitError:
		id = seqName(h.Seq)
	}
	return AnchorName(h.Turn, h.Kind, id)
}

func seqName(seq uint64) string { return strconv.FormatUint(seq, 10) }

// itemAnchor makes an item one that can be gone to.
type itemAnchor struct {
	kind transcript.AnchorKind
	name string
}

// Anchor implements transcript.Anchor.
func (a itemAnchor) Anchor() (transcript.AnchorKind, string) { return a.kind, a.name }
