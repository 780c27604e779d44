package transcriptview

import (
	"bytes"
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// Sizes of the pages of history.
const (
	HistoryPage    = 20       // turns
	MaxPage        = 100      // turns of a page that is not drawn soon
	firstPageBytes = 32 << 10 // of events of the first page, which fills the screen
)

// paging is the state of paging in older turns.
type paging struct {
	olderThan uint64 // the next page has events before this seq; 0: no older events
	stopped   uint64 // olderThan when older turns turned out not to be available; 0: they are
	loading   bool   // a page is requested
	pages     int    // pages requested
	short     bool   // only the first page was requested, and its size limited it
	cut       cutTurn
}

// A cutTurn is the oldest turn of the list while its beginning has not been paged in.
type cutTurn struct {
	events []json.RawMessage // up to the next turn, oldest first; nil: the oldest turn is complete
	items  int               // the first items of the list, which show the events
	names  map[itemName]int  // indexes of items in the list
}

// An itemName names an item of a cut turn. The seq of an item that began before the loaded events is
// not known yet.
type itemName struct {
	turn string
	kind protocol.ItemKind
	id   string
}

// RequestPage returns a request for up to turns turns before the first one shown. ok is false if
// there are none or a request is pending. The first page is small, so that it is drawn soon.
func (v *View) RequestPage(turns int) (d protocol.HistoryData, ok bool) {
	p := &v.paging
	if p.olderThan == 0 || p.loading {
		return d, false
	}
	d = protocol.HistoryData{Before: p.olderThan, Limit: turns}
	if p.pages == 0 {
		d.Bytes = firstPageBytes
	}
	p.loading, p.short = true, false
	p.pages++
	return d, true
}

// Short reports whether only the first page was requested, and its size limited it.
func (v *View) Short() bool { return v.paging.short }

// PrependPage adds a page of history before the first item. If the page before began within a turn,
// that turn is reduced again from both pages, so that it is shown as to those who saw it live. The
// points keep the lines that they are at. It returns an error if an event cannot be decoded.
func (v *View) PrependPage(page *protocol.HistoryResult, points ...*transcript.Point) error {
	p := &v.paging
	cut := p.cut
	p.loading, p.olderThan, p.cut = false, page.OlderThan(), cutTurn{}
	p.short = p.pages == 1 && limitedBySize(page)
	events := page.Events
	if cut.events != nil {
		events = slices.Concat(events, cut.events)
	}
	past := &pastTurns{View: New(v.styles), list: v.List, inList: cut.names, names: map[itemName]int{}}
	if err := past.apply(events); err != nil {
		return err
	}
	v.HasPictures, v.changedCounted = v.HasPictures || past.HasPictures, false
	p.cut = past.cut
	older := max(0, len(past.items)-cut.items)
	v.List.ReplaceFirst(past.items[older:], points...)
	for _, it := range slices.Backward(past.items[:older]) {
		v.List.Prepend(it.Item, it.Collapsed)
	}
	return nil
}

// limitedBySize reports whether a page is as small as one of firstPageBytes, and has fewer turns
// than were requested.
func limitedBySize(page *protocol.HistoryResult) bool {
	size, turns := 0, 0
	for _, raw := range page.Events {
		size += len(raw)
		if bytes.Contains(raw, []byte(`"type":"`+protocol.MessageUser+`"`)) {
			turns++
		}
	}
	return page.More && turns < HistoryPage && size < protocol.MaxHistory/2
}

// pastTurns are the turns of a page and their items.
type pastTurns struct {
	*View
	items  []transcript.NewItem
	names  map[itemName]int // indexes of items
	list   *transcript.List // which gets the items
	inList map[itemName]int // indexes of the items that the list has, which stay as collapsed as they are
	cut    cutTurn          // the first turn, if the events begin within it
}

// apply reduces events.
func (p *pastTurns) apply(events []json.RawMessage) error {
	begins := false // the events begin within a turn
	for i, raw := range events {
		var e protocol.Event
		if err := json.Unmarshal(raw, &e); err != nil {
			return err
		}
		if e.Type == protocol.MessageUser && begins && p.cut.events == nil {
			p.cut = cutTurn{events[:i], len(p.items), p.names}
		}
		items, err := p.Turns.Apply(&e)
		if err != nil {
			return err
		}
		begins = begins || p.Turns.Partial()
		p.show(&e, items, p.add)
	}
	if begins && p.cut.events == nil {
		p.cut = cutTurn{events, len(p.items), p.names}
	}
	for _, id := range p.runningTools { // the list has the rest of the call
		p.List.Item(id).(*toolCall).markInterrupted("continues below")
	}
	return nil
}

// add adds an item.
func (p *pastTurns) add(item transcript.Item, collapsed bool) transcript.ID {
	if it := item.(interface{ protocolItem() *protocol.Item }).protocolItem(); it != nil {
		name := itemName{p.Turns.Current().Turn, it.Kind, it.ID}
		if i, ok := p.inList[name]; ok {
			collapsed = p.list.Collapsed(p.list.First() + transcript.ID(i))
		}
		p.names[name] = len(p.items)
	}
	p.items = append(p.items, transcript.NewItem{Item: item, Collapsed: collapsed})
	return p.List.Append(item, collapsed)
}

// OlderThan returns the seq that the next page of history ends before, or 0 at the start of the session.
func (v *View) OlderThan() uint64 { return v.paging.olderThan }

// Loading reports whether a request for a page of history is pending.
func (v *View) Loading() bool { return v.paging.loading }

// StopPaging marks older turns as not available.
func (v *View) StopPaging() {
	p := &v.paging
	p.loading, p.olderThan, p.stopped = false, 0, max(p.olderThan, p.stopped)
}
