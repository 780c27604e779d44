package protolog

// A Panel lists the newest messages of a wire, those that its filter shows, and
// knows which one is chosen. It follows the newest until another is chosen. One
// goroutine owns it.
type List struct {
	messages []Message
	first    int // number of messages[0]; messages are numbered as they come
	bytes    int // of text

	filter Filter
	words  [][]byte
	shown  []int // numbers of those that pass the filter

	follow bool
	at     int // the chosen one, in shown
}

// NewList shows everything and follows.
func NewList() *List { return &List{follow: true} }

// Append adds what was read. It gives up what is older than the newest MaxFrames
// frames or MaxBytes.
func (p *List) Append(r Batch) {
	for _, m := range r.Messages {
		p.messages = append(p.messages, m)
		p.bytes += len(m.Text)
		if p.filter.passes(&p.messages[len(p.messages)-1], p.words) {
			p.shown = append(p.shown, p.first+len(p.messages)-1)
		}
	}
	p.answered(r.Responses)
	p.giveUp()
	if p.follow {
		p.at = len(p.shown) - 1
	}
}

// answered marks what was sent and is answered now.
func (p *List) answered(answers []Response) {
	open := map[string]Response{}
	for _, a := range answers {
		open[a.ID] = a
	}
	for i := len(p.messages) - 1; i >= 0 && len(open) > 0; i-- {
		m := &p.messages[i]
		if a, ok := open[m.ID]; ok && m.Sent {
			m.Answered, m.Latency = true, a.Latency
			delete(open, m.ID)
		}
	}
}

func (p *List) giveUp() {
	if len(p.messages) == 0 {
		return
	}
	newest := p.messages[len(p.messages)-1].Frame
	n := 0
	for ; n < len(p.messages)-1 && (p.bytes > MaxBytes || p.messages[n].Frame+MaxFrames <= newest); n++ {
		p.bytes -= len(p.messages[n].Text)
		p.messages[n] = Message{}
	}
	p.messages, p.first = p.messages[n:], p.first+n
	gone := 0
	for gone < len(p.shown) && p.shown[gone] < p.first {
		gone++
	}
	p.shown = p.shown[gone:]
	p.at = max(p.at-gone, 0)
}

// SetFilter shows other messages. What is chosen stays chosen where it is still shown.
func (p *List) SetFilter(f Filter) {
	chosen := -1
	if p.at >= 0 && p.at < len(p.shown) {
		chosen = p.shown[p.at]
	}
	p.filter, p.words = f, f.words()
	p.shown, p.at = nil, 0
	for i := range p.messages {
		if !p.filter.passes(&p.messages[i], p.words) {
			continue
		}
		if p.first+i <= chosen {
			p.at = len(p.shown)
		}
		p.shown = append(p.shown, p.first+i)
	}
	if p.follow {
		p.at = len(p.shown) - 1
	}
}

// Filter is what is shown.
func (p *List) Filter() Filter { return p.filter }

// Following is true while the newest message is chosen as it comes.
func (p *List) Following() bool { return p.follow }

// MoveSelection chooses another message, by so many rows; to the last one follows.
func (p *List) MoveSelection(by int) {
	p.at = min(max(p.at+by, 0), max(len(p.shown)-1, 0))
	p.follow = p.at >= len(p.shown)-1 && by > 0
}

// SelectFirst chooses the oldest message.
func (p *List) SelectFirst() { p.at, p.follow = 0, false }

// SelectLast chooses the newest message, and follows.
func (p *List) SelectLast() { p.at, p.follow = len(p.shown)-1, true }

// Selected is the chosen message, or nil. It is valid until the next call.
func (p *List) Selected() *Message {
	if p.at < 0 || p.at >= len(p.shown) {
		return nil
	}
	return &p.messages[p.shown[p.at]-p.first]
}

// Counts are how many messages are shown, how many there are, and their bytes.
func (p *List) Counts() (shown, all, bytes int) { return len(p.shown), len(p.messages), p.bytes }
