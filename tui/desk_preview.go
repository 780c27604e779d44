package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// peekEvery is the least time between two looks at the same session.
const peekEvery = 500 * time.Millisecond

// preview is what was said last in the chosen session. One that is subscribed
// shows as it is; another is asked for its last turn and what it does, and again
// when it has changed. One question is under way at a time.
type preview struct {
	on      bool
	session string // asked for
	seq     uint64 // it had then
	busy    bool
	due     time.Time // not asked again before
	waking  bool      // a wake-up for that is under way

	story *story // of the last turn that ended; nil: not known yet
	last  string // that turn
	state *protocol.State
	err   string
}

// peeked is what a session answered.
type peeked struct {
	state  *protocol.State
	events []*protocol.Event // of its last turn, when that is another one than was known
}

// peek asks for what the preview does not know, if anything.
func (d *desk) peek() tea.Cmd {
	p := &d.preview
	if !p.on || d.shown != nil || p.busy {
		return nil
	}
	s, ok := d.current()
	switch {
	case !ok || d.subscribed(s.Session) != nil:
		return nil
	case p.session != s.Session:
		*p = preview{on: true, session: s.Session, waking: p.waking}
	case p.seq == s.Seq:
		return nil
	default:
		if wait := p.due.Sub(d.now()); wait > 0 {
			return p.wake(d, wait)
		}
	}
	p.busy, p.seq, p.due = true, s.Seq, d.now().Add(peekEvery)
	session, known := d.fleet.Session(s.Session), p.last
	return d.do(func(ctx context.Context) func() tea.Cmd {
		got, err := lookAt(ctx, session, known)
		return func() tea.Cmd {
			d.preview.came(d, s.Session, got, err)
			return nil
		}
	})
}

func (p *preview) wake(d *desk, wait time.Duration) tea.Cmd {
	if p.waking {
		return nil
	}
	p.waking = true
	return d.after(wait, deskMsg(func() tea.Cmd {
		d.preview.waking = false
		return nil
	}))
}

// lookAt asks a session what it does, and for its last turn unless that is known.
func lookAt(ctx context.Context, s Session, known string) (*peeked, error) {
	var now protocol.SnapshotResult
	if err := s.Do(ctx, protocol.DoSnapshot, protocol.Empty{}, &now); err != nil {
		return nil, err
	}
	got := &peeked{state: now.Snapshot.State}
	if got.state == nil || got.state.Last == nil || got.state.Last.Turn == known {
		return got, nil
	}
	var page protocol.HistoryResult
	if err := s.Do(ctx, protocol.DoHistory, protocol.HistoryData{Limit: 1}, &page); err != nil {
		return got, err
	}
	for _, raw := range page.Events {
		e := new(protocol.Event)
		if err := json.Unmarshal(raw, e); err != nil {
			return got, fmt.Errorf("last turn: %w", err)
		}
		got.events = append(got.events, e)
	}
	return got, nil
}

// came takes what a session answered.
func (p *preview) came(d *desk, session string, got *peeked, err error) {
	p.busy = false
	if !p.on || p.session != session {
		return
	}
	p.err = ""
	if err != nil {
		p.err = errText(err)
	}
	if got == nil {
		return
	}
	p.state = got.state
	d.list.See(session)
	if p.story != nil && got.events == nil {
		return
	}
	p.story = newStory(d.look)
	for _, e := range got.events {
		if err := p.story.add(e); err != nil {
			p.err = err.Error()
			return
		}
	}
	if got.state.Last != nil && err == nil {
		p.last = got.state.Last.Turn
	}
}

func (p *preview) redress() {
	if p.story != nil {
		p.story.list.Redress()
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
	case p.session != s.Session || p.state == nil && p.err == "":
		out = append(out, d.look.dim.Render(fit(" …", width)))
	default:
		now := p.now(d.look, width, d.now())
		now = now[:min(len(now), rows-1)]
		if p.story != nil && len(now) < rows-1 {
			out = append(out, endOf(p.story, width, rows-1-len(now))...)
		}
		out = append(out, now...)
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
	s.list.Resize(width, rows)
	return slices.Clone(s.list.Lines())
}

// now is what the session does, in lines.
func (p *preview) now(l *look, width int, at time.Time) []string {
	var out []string
	add := func(line string) { out = append(out, fit(line, width)) }
	clean := func(s string) string { return oneLine(transcript.Clean(s)) }
	if p.err != "" {
		add(l.bad.Render(" " + clean(p.err)))
	}
	s := p.state
	if s == nil {
		return out
	}
	if t := s.Turn; t != nil {
		add(" " + l.user.Render(clean(nameOf(t.Message.By))) + " " + clean(t.Message.Text))
		for i := range t.Tools {
			add(l.good.Render(" ▸ ") + clean(cmp.Or(t.Tools[i].Title, t.Tools[i].Name)) + l.dim.Render(" · "+took(at.Sub(t.Tools[i].Started).Truncate(time.Second))))
		}
		if n := len(t.Parts); n > 0 && len(t.Tools) == 0 {
			doing := " writes …"
			if t.Parts[n-1].Kind == protocol.KindReasoning {
				doing = " thinks …"
			}
			add(l.dim.Render(doing))
		}
	}
	for i := range s.Approvals {
		a := &s.Approvals[i]
		add(l.warn.Render(" ? ") + clean(cmp.Or(a.Command, a.Title, a.Kind)))
	}
	if n := len(s.Queue); n > 0 {
		line := " +" + count(n, "queued message")
		if s.Blocked() != nil {
			line += ", held"
		}
		add(l.dim.Render(line))
	}
	return out
}
