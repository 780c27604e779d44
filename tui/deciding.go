package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// approvalKey handles a key while the request on the screen has the focus.
func (m *model) approvalKey(key string) tea.Cmd {
	r, f := m.approvals.current(m.state.Approvals)
	does := m.look.keys.in(inApproval, key)
	if does == doBack || r == nil {
		m.setFocus(onComposer)
		return nil
	}
	switch does {
	case doExamine:
		m.examine(f.amended(r))
		return nil
	case doPreviousRequest:
		m.approvals.turn(m.state.Approvals, -1)
		return nil
	case doNextRequest:
		m.approvals.turn(m.state.Approvals, 1)
		return nil
	}
	if !m.approvals.armed && does != doUp && does != doDown {
		m.word = tooSoon
	}
	if !m.approvals.armed || f.sending != "" {
		return nil
	}
	f.err = ""
	switch does {
	case doUp:
		f.move(-1)
	case doDown:
		f.move(1)
	case doReason:
		f.toReason()
	case doAmend:
		return m.amend(r, f)
	case doChoose:
		if m.approvals.rows == 0 {
			m.word = "the window is too small to decide here"
			return nil
		}
		if o := f.enter(); o != nil {
			return m.decide(r, f, o)
		}
	default:
		if o := f.option(key); o != nil {
			return m.number(r, f, o)
		}
	}
	return nil
}

// tooSoon is said of a key that may have been in flight when the request came.
const tooSoon = "the request came just now: press it again in a moment"

// number decides by the number of an option. One that comes too soon is neither
// a decision nor the beginning of a message. Where the window had no room for
// all options it only leads there: nobody decides on what is not to be seen.
func (m *model) number(r *protocol.Approval, f *form, o *option) tea.Cmd {
	switch {
	case !m.approvals.armed:
		m.word = tooSoon
	case m.approvals.whole:
		return m.decide(r, f, o)
	default:
		m.setFocus(onApproval)
		f.choose(o)
		m.word = m.look.keys.hint(doChoose, "decides")
	}
	return nil
}

// decide sends a decision. Until it is answered nothing else can be decided;
// when somebody else was first, the screen says who.
func (m *model) decide(r *protocol.Approval, f *form, o *option) tea.Cmd {
	if f.sending != "" {
		return nil
	}
	if f.unanswered(o) {
		f.err = "nothing is answered yet"
		return nil
	}
	f.sending, f.err = oneLine(transcript.Clean(o.Label)), ""
	if f.sending == "" {
		f.sending = string(o.Kind)
	}
	request := r.Request
	return m.do(protocol.DoApprove, f.data(request, o), nil, func(err error) tea.Cmd {
		if f := m.approvals.forms[request]; f != nil {
			f.sending = ""
			if err != nil {
				f.err = errText(err)
			}
		}
		if err != nil {
			m.word = errText(err)
		}
		return nil
	})
}

// examine shows all of a request on a screen of its own.
func (m *model) examine(r *protocol.Approval) { m.pager = examined(m.look, r) }

// examined is all of a request.
func examined(l *look, r *protocol.Approval) *pager {
	var of []transcript.Item
	changes, patched := changesOf(r)
	for _, p := range passages(r, patched) {
		of = append(of, sheets(l, strings.TrimSuffix(transcript.Reveal(p.text), "\n"), asOutput)...)
	}
	if changes != nil {
		of = append(of, changes.sources(l)...)
	}
	for i := range r.Tasks {
		of = append(of, sheets(l, transcript.Reveal(fmt.Sprintf("%d. %s\n   %s\n", i+1, r.Tasks[i].Title, r.Tasks[i].Description)), asOutput)...)
	}
	return newPager(l, "approval · "+oneLine(transcript.Reveal(r.Title)), of...)
}
