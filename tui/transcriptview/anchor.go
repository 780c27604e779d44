package transcriptview

import (
	"strconv"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// The anchor kinds of a session's transcript.
const (
	TurnAnchor transcript.AnchorKind = 1 + iota
	ToolAnchor
	ApprovalAnchor
	ErrorAnchor
)

// AnchorName returns the name of an item in the list: its turn, kind and id.
//
// The id of an error is its seq. The end of a failed turn has the id turnEnd.
func AnchorName(turn string, kind protocol.HitKind, id string) string {
	return turn + " " + string(kind) + " " + id
}

// turnEnd is the id of the end of a failed turn.
const turnEnd = "end"

// HitAnchor returns the anchor name of the item that a search hit is in.
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

// seqName returns the id of the error at a seq.
func seqName(seq uint64) string { return strconv.FormatUint(seq, 10) }

// itemAnchor implements transcript.Anchor. It is embedded by the items that have an anchor.
type itemAnchor struct {
	kind transcript.AnchorKind
	name string
}

// Anchor implements transcript.Anchor.
func (a itemAnchor) Anchor() (transcript.AnchorKind, string) { return a.kind, a.name }
