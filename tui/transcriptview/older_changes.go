package transcriptview

import (
	"slices"

	"agentctl/protocol"
	"agentctl/tui/filechange"
	"agentctl/tui/transcript"
)

// OlderChanges is the file changes of the turns before those of a list. It is read from pages of
// history, of which it keeps nothing else.
type OlderChanges struct {
	view    *View
	before  uint64 // the next page has events before this seq; 0: all are read
	until   uint64 // the changes of all turns from the start up to this seq will be read
	cut     cutTurn
	steps   []olderStep // oldest first
	loading bool        // a page is requested
	failed  bool        // the turns are not available
}

// olderStep is the changes of a tool call.
type olderStep struct {
	seq uint64
	filechange.Step
}

// loadedTurns returns the first item of the list that is in a turn of which all is loaded, and its seq.
func (v *View) loadedTurns() (first transcript.ID, seq uint64) {
	first = v.List.First() + transcript.ID(v.paging.cut.items)
	if first <= v.List.Last() {
		return first, v.List.Item(first).(transcript.Anchor).Seq()
	}
	return first, v.Turns.Seq() + 1
}

// OlderChanges returns the reader of the changes before the list. After a failure, and after turns were
// dropped from the list, it is a new one.
func (v *View) OlderChanges() *OlderChanges {
	_, seq := v.loadedTurns()
	if o := v.older; o == nil || o.failed || o.until < seq {
		p := &v.paging
		v.older = &OlderChanges{view: v, before: max(p.olderThan, p.stopped), until: seq, cut: p.cut}
	}
	return v.older
}

// ChangesKnown reports whether the changes of all turns are known.
func (v *View) ChangesKnown() bool {
	_, seq := v.loadedTurns()
	return v.paging.olderThan == 0 && v.paging.stopped == 0 || v.older != nil && v.older.covers(seq)
}

// covers reports whether the changes of all turns up to a seq have been read.
func (o *OlderChanges) covers(seq uint64) bool { return o.before == 0 && !o.failed && o.until >= seq }

// ChangesLoading reports whether changes of older turns are requested.
func (v *View) ChangesLoading() bool { return v.older != nil && v.older.loading }

// Request returns a request for the next page. ok is false if all are read, a request is pending, or the
// view was reset.
func (o *OlderChanges) Request() (d protocol.HistoryData, ok bool) {
	if o.before == 0 || o.loading || o.failed || o.view.older != o {
		return d, false
	}
	o.loading = true
	return protocol.HistoryData{Before: o.before, Limit: MaxPage}, true
}

// Add adds the page of the last request, or the error that answers it.
func (o *OlderChanges) Add(page *protocol.HistoryResult, err error) {
	past := &pastTurns{View: New(o.view.styles), names: map[itemName]int{}}
	if err == nil {
		err = past.apply(slices.Concat(page.Events, o.cut.events))
	}
	if o.loading = false; err != nil {
		o.failed = true
		return
	}
	if o.before = page.OlderThan(); o.before == 0 {
		past.cut = cutTurn{}
	}
	var steps []olderStep
	for _, it := range past.items[past.cut.items:] {
		if call, ok := it.Item.(*toolCall); ok {
			for _, step := range call.appendSteps(nil) {
				steps = append(steps, olderStep{call.seq, step})
			}
		}
	}
	o.cut, o.steps = past.cut, append(steps, o.steps...)
	o.view.changedCounted = false
}

// olderSteps returns the changes of the turns before the list if all are known, and the first item of the
// list that has others.
func (v *View) olderSteps() (steps []olderStep, first transcript.ID) {
	first, seq := v.loadedTurns()
	if v.older == nil || !v.older.covers(seq) {
		return nil, v.List.First()
	}
	steps = v.older.steps
	for n := len(steps); n > 0 && steps[n-1].seq >= seq; n-- { // the list got pages since
		steps = steps[:n-1]
	}
	return steps, first
}

// StepsTo returns the file changes of the completed tool calls up to an item. Those of turns that are not
// loaded are among them if all are known.
func (v *View) StepsTo(last transcript.ID) (steps []filechange.Step) {
	older, first := v.olderSteps()
	for _, s := range older {
		steps = append(steps, s.Step)
	}
	return append(steps, Steps(v.List, first, last)...)
}
