package protolog

// List is the newest messages of a log that match a filter, with a selection. The selection follows
// the newest message until another one is selected. It is not safe for concurrent use.
type List struct {
	messages []Message
	first    int // number of messages[0]; messages are numbered in order of arrival
	bytes    int // of all texts

	filter Filter
	terms  [][]byte
	shown  []int // numbers of the messages that match the filter

	follow   bool
	selected int // index in shown
}

// NewList returns an empty list without filter that follows the newest message.
func NewList() *List { return &List{follow: true} }

// Append adds a batch. It drops the oldest messages beyond MaxFrames frames or MaxBytes bytes.
func (l *List) Append(b Batch) {
	for _, m := range b.Messages {
		l.messages = append(l.messages, m)
		l.bytes += len(m.Text)
		if l.filter.matches(&l.messages[len(l.messages)-1], l.terms) {
			l.shown = append(l.shown, l.first+len(l.messages)-1)
		}
	}
	l.applyResponses(b.Responses)
	l.dropOld()
	if l.follow {
		l.selected = len(l.shown) - 1
	}
}

// applyResponses marks the newest sent message of each ID as answered.
func (l *List) applyResponses(responses []Response) {
	pending := map[string]Response{}
	for _, r := range responses {
		pending[r.ID] = r
	}
	for i := len(l.messages) - 1; i >= 0 && len(pending) > 0; i-- {
		m := &l.messages[i]
		if r, ok := pending[m.ID]; ok && m.Sent {
			m.Answered, m.Latency = true, r.Latency
			delete(pending, m.ID)
		}
	}
}

// dropOld enforces MaxFrames and MaxBytes.
func (l *List) dropOld() {
	if len(l.messages) == 0 {
		return
	}
	newest := l.messages[len(l.messages)-1].Frame
	n := 0
	for ; n < len(l.messages)-1 && (l.bytes > MaxBytes || l.messages[n].Frame+MaxFrames <= newest); n++ {
		l.bytes -= len(l.messages[n].Text)
		l.messages[n] = Message{}
	}
	l.messages, l.first = l.messages[n:], l.first+n
	dropped := 0
	for dropped < len(l.shown) && l.shown[dropped] < l.first {
		dropped++
	}
	l.shown = l.shown[dropped:]
	l.selected = max(l.selected-dropped, 0)
}

// SetFilter sets the filter. If the selected message does not match it, SetFilter selects the
// nearest older message that does, or the oldest one.
func (l *List) SetFilter(f Filter) {
	selected := -1
	if l.selected >= 0 && l.selected < len(l.shown) {
		selected = l.shown[l.selected]
	}
	l.filter, l.terms = f, f.queryTerms()
	l.shown, l.selected = nil, 0
	for i := range l.messages {
		if !l.filter.matches(&l.messages[i], l.terms) {
			continue
		}
		if l.first+i <= selected {
			l.selected = len(l.shown)
		}
		l.shown = append(l.shown, l.first+i)
	}
	if l.follow {
		l.selected = len(l.shown) - 1
	}
}

// Filter returns the filter.
func (l *List) Filter() Filter { return l.filter }

// Following reports whether the selection follows the newest message.
func (l *List) Following() bool { return l.follow }

// MoveSelection moves the selection down by rows, or up if by is negative. Moving it down to the
// last message starts to follow.
func (l *List) MoveSelection(by int) {
	l.selected = min(max(l.selected+by, 0), max(len(l.shown)-1, 0))
	l.follow = l.selected >= len(l.shown)-1 && by > 0
}

// SelectFirst selects the oldest message.
func (l *List) SelectFirst() { l.selected, l.follow = 0, false }

// SelectLast selects the newest message and follows.
func (l *List) SelectLast() { l.selected, l.follow = len(l.shown)-1, true }

// Selected returns the selected message, or nil. It is valid until the next call.
func (l *List) Selected() *Message {
	if l.selected < 0 || l.selected >= len(l.shown) {
		return nil
	}
	return &l.messages[l.shown[l.selected]-l.first]
}

// Counts returns the number of messages that match the filter, and the number and bytes of all.
func (l *List) Counts() (shown, all, bytes int) { return len(l.shown), len(l.messages), l.bytes }
