package transcriptview

import (
	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// The anchor kinds of a session's transcript.
const (
	TurnAnchor transcript.AnchorKind = 1 + iota
	StepAnchor                       // a tool call, an approval or an error
)

// itemAnchor implements transcript.Anchor. It is embedded by all items.
type itemAnchor struct {
	kind transcript.AnchorKind
	seq  uint64
	item *protocol.Item // the item of a turn that it shows; nil: one without an id
}

// Seq implements transcript.Anchor.
func (a itemAnchor) Seq() uint64 { return a.seq }

// AnchorKind implements transcript.Anchor.
func (a itemAnchor) AnchorKind() transcript.AnchorKind { return a.kind }

func (a itemAnchor) protocolItem() *protocol.Item { return a.item }

// FindHit returns the item that a search hit is in. Before the item's first event is loaded, it
// returns the part of the item that is.
func (v *View) FindHit(h *protocol.Hit) (transcript.ID, bool) {
	if v.paging.olderThan <= h.Seq {
		return v.List.Find(h.Seq)
	}
	kind := protocol.ItemKind(h.Kind)
	if h.Kind == protocol.HitUser { // the message that started the turn is no item
		kind = protocol.ItemSteered
	}
	i, ok := v.paging.cut.names[itemName{h.Turn, kind, h.Item}]
	return v.List.First() + transcript.ID(i), ok
}
