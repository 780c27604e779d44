package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

const (
	peekEvery = 500 * time.Millisecond // the least time between two looks at a session that changed
	peekAgain = 2 * time.Second        // between two looks at one that runs
	peekLimit = 10 * time.Second       // for one look
	peekBytes = 4 << 20                // of the turn under way; what is more is left out
)

// preview is what was said last in the chosen session. One that is subscribed
// shows as it is. Another is looked at: attached to until all is there, then
// left, and again when it has changed. One look is under way at a time.
type preview struct {
	on      bool
	session string // looked at
	seq     uint64 // it had then
	due     time.Time
	waking  bool               // a wake-up for that is under way
	cancel  context.CancelFunc // of the look under way, or nil
	ended   chan struct{}      // closed when that is over

	story *story            // nil: nothing is known yet
	state *protocol.State   // as it was then
	past  []*protocol.Event // its last turn that ended
	last  string            // that turn
	err   string
}

// peeked is what a look has seen.
type peeked struct {
	state *protocol.State
	after uint64            // seq that the turn under way begins after
	last  string            // turn that ended before
	past  []*protocol.Event // of the last turn, when that is another one than was known
	turn  []*protocol.Event // under way
}

// peek looks at the session that the preview shows, if it knows too little of it.
func (d *desk) peek() tea.Cmd {
	p := &d.preview
	if !p.on && p.cancel == nil {
		return nil
	}
	s, ok := d.current()
	if p.session != s.Session || !p.on || d.shown != nil {
		p.stop()
	}
	switch {
	case !p.on || d.shown != nil || !ok || d.subscribed(s.Session) != nil || p.cancel != nil:
		return nil
	case p.session != s.Session:
		*p = preview{on: true, session: s.Session, waking: p.waking, ended: p.ended}
	case p.seq == s.Seq && s.Status != protocol.Running:
		return nil
	default:
		due := p.due
		if p.seq == s.Seq {
			due = due.Add(peekAgain - peekEvery)
		}
		if early := due.Sub(d.now()); early > 0 {
			return p.wake(d, early)
		}
	}
	ctx, cancel := context.WithTimeout(d.ctx, peekLimit)
	before, leaving, ended := p.ended, d.ending[s.Session], make(chan struct{})
	p.seq, p.cancel, p.ended = s.Seq, cancel, ended
	session, known, began := d.fleet.Session(s.Session), p.last, d.now()
	return d.do(func(context.Context) func() tea.Cmd {
		defer close(ended)
		defer cancel()
		var got *peeked
		err := errors.New("the server does not answer")
		if wait(ctx, before) && wait(ctx, leaving) {
			got, err = lookAt(ctx, session, known)
		}
		return func() tea.Cmd {
			if p := &d.preview; p.ended == ended {
				p.cancel = nil
				p.due = d.now().Add(max(peekEvery, 10*d.now().Sub(began))) // what is slow is asked less
				p.came(d, got, err)
			}
			return nil
		}
	})
}

// wait waits until c is closed, which nil is, or ctx ends; it reports whether
// ctx goes on.
func wait(ctx context.Context, c <-chan struct{}) bool {
	if c != nil {
		select {
		case <-c:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

// stop ends the look under way. Nobody may follow the session before ended is
// closed: a client follows it once.
func (p *preview) stop() {
	if p.cancel != nil {
		p.cancel()
		p.cancel, p.session = nil, ""
	}
}

func (p *preview) wake(d *desk, after time.Duration) tea.Cmd {
	if p.waking {
		return nil
	}
	p.waking = true
	return d.after(after, deskMsg(func() tea.Cmd {
		d.preview.waking = false
		return nil
	}))
}

// lookAt attaches to a session until it is caught up, and asks for its last turn
// unless that is known.
func lookAt(ctx context.Context, s Session, known string) (*peeked, error) {
	got, err := attachTo(ctx, s)
	if err != nil || got.last == known {
		return got, err
	}
	var page protocol.HistoryResult
	if err := s.Do(ctx, protocol.DoHistory, protocol.HistoryData{Before: got.after + 1, Limit: 1}, &page); err != nil {
		return got, err
	}
	for _, raw := range page.Events {
		e := new(protocol.Event)
		if err := json.Unmarshal(raw, e); err != nil {
			return got, fmt.Errorf("last turn: %w", err)
		}
		got.past = append(got.past, e)
	}
	return got, nil
}

func attachTo(ctx context.Context, s Session) (*peeked, error) {
	var got *peeked
	size := 0
	for u := range s.Updates(ctx) {
		switch {
		case u.Link != nil && u.Link.State == Offline:
			return nil, errors.New(u.Link.Reason)
		case u.Attached != nil && u.Attached.Snapshot != nil:
			got = &peeked{state: u.Attached.Snapshot.State, after: u.Attached.After.Seq}
			if last := got.state.Last; last != nil {
				got.last = last.Turn
			}
		case u.Attached != nil && got == nil:
			got = &peeked{state: &protocol.State{}}
		case u.Event == nil || got == nil:
		case u.Event.Type == protocol.CaughtUp:
			return got, nil
		case u.Event.Durable():
			if size += len(u.Event.Data); size > peekBytes {
				return got, nil
			}
			if err := got.state.Apply(u.Event); err != nil {
				return nil, err
			}
			got.turn = append(got.turn, u.Event)
		}
	}
	if ctx.Err() != nil {
		return nil, errors.New("the server does not answer")
	}
	return nil, errors.New("the session cannot be followed")
}

// came takes what a look has seen.
func (p *preview) came(d *desk, got *peeked, err error) {
	p.err = ""
	if err != nil {
		p.err = errText(err)
	}
	if got == nil {
		return
	}
	d.list.MarkSeen(p.session)
	p.state = got.state
	if got.past != nil {
		p.past, p.last = got.past, got.last
	}
	p.story = newStory(d.look)
	for _, e := range slices.Concat(p.past, got.turn) {
		if err := p.story.add(e); err != nil {
			p.err = err.Error()
			return
		}
	}
}

func (p *preview) redress() {
	if p.story != nil {
		p.story.list.Restyle()
	}
}

// Render is rows lines.
func (p *preview) Render(d *desk, width, rows int) []string {
	if rows < 1 {
		return nil
	}
	s, ok := d.current()
	title := d.look.bold.Render("preview")
	if ok {
		title += " · " + callOf(&s)
	}
	out := []string{d.look.rule(title, width)}
	switch o := d.subscribed(s.Session); {
	case !ok:
	case o != nil:
		out = append(out, endOf(o.model.story, width, rows-1)...)
	case p.session != s.Session || p.story == nil && p.err == "":
		out = append(out, d.look.dim.Render(fit(" …", width)))
	default:
		after := p.after(d.look, width)
		after = after[:min(len(after), rows-1)]
		if p.story != nil {
			out = append(out, endOf(p.story, width, rows-1-len(after))...)
		}
		out = append(out, after...)
	}
	for len(out) < rows {
		out = append(out, "")
	}
	return out
}

// endOf is the end of a story.
func endOf(s *story, width, rows int) []string {
	if rows < 1 || s.empty() {
		return nil
	}
	return s.list.Tail(width, rows)
}

// after is what follows the words: what went wrong, and the queue.
func (p *preview) after(l *look, width int) []string {
	var out []string
	if p.err != "" {
		out = append(out, l.bad.Render(fit(" "+oneLine(transcript.Clean(p.err)), width)))
	}
	if p.state == nil || len(p.state.Queue) == 0 {
		return out
	}
	line := " +" + count(len(p.state.Queue), "queued message")
	if p.state.BlockingHold() != nil {
		line += ", held"
	}
	return append(out, l.dim.Render(fit(line, width)))
}
