package tui

import (
	"slices"
	"time"

	"agentctl/tui/keymap"
	"agentctl/tui/remote"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// verdict is a request that is decided without opening its session, as a panel.
// What it is about is asked for first, and shown.
type verdict struct {
	session string
	name    string
	asked   *time.Time         // by the summary
	request *protocol.Approval // nil until it is there
	form    *form              // of the request
	quiet   time.Time          // then it takes keys, when none is pressed before
	armed   bool
	seen    bool // the last drawing had room for something of what it is about
	sending string
	err     string
}

// decideOn asks what a session wants. What takes more than a yes or a no is
// decided in the session.
func (d *desk) decideOn(s *protocol.Summary) tea.Cmd {
	switch {
	case s.Status != protocol.Waiting:
		d.word = callOf(s) + " asks for nothing"
		return nil
	case s.Approvals > 1:
		return d.enter(s.Session)
	}
	v := &verdict{session: s.Session, name: callOf(s), asked: s.Asked}
	d.panel = v
	got := new(protocol.SnapshotResult)
	return d.ask(s.Session, protocol.DoSnapshot, protocol.Empty{}, got, func(err error) tea.Cmd {
		if d.panel != panel(v) {
			return nil
		}
		if err != nil {
			v.err = remote.ErrorText(err)
			return nil
		}
		return v.came(d, got.Snapshot.State)
	})
}

// came takes what the session is.
func (v *verdict) came(d *desk, s *protocol.State) tea.Cmd {
	switch {
	case s == nil || len(s.Approvals) == 0:
		d.panel, d.word = nil, "it was decided meanwhile"
		return nil
	case len(s.Approvals) > 1 || len(s.Approvals[0].Tasks) > 0 || len(s.Approvals[0].Questions) > 0:
		d.panel = nil
		return d.enter(v.session)
	}
	v.request = &s.Approvals[0]
	v.form = newForm(d.look, v.request)
	v.quiet = d.now().Add(grace)
	return v.arm(d)
}

// arm lets the request take keys once it was quiet for long enough.
func (v *verdict) arm(d *desk) tea.Cmd {
	wait := v.quiet.Sub(d.now())
	if v.armed = wait <= 0; v.armed || d.panel != panel(v) {
		return nil
	}
	return d.after(wait, deskMsg(func() tea.Cmd { return v.arm(d) }))
}

func (v *verdict) key(d *desk, key string, _ tea.KeyPressMsg) tea.Cmd {
	keys := d.look.keys
	does := keys.InList(keymap.Sessions, key)
	switch {
	case does == keymap.Back:
		d.panel = nil
	case does == keymap.Choose:
		d.panel = nil
		return d.enter(v.session)
	case v.request == nil || v.sending != "":
	case keys.At(keymap.Approval, key) == keymap.ViewRequest:
		d.pager = examined(d.look, v.request)
	case !v.armed:
		v.quiet = d.now().Add(grace)
	case does == keymap.AllowOnce && !v.seen:
		d.pager = examined(d.look, v.request)
	case does == keymap.AllowOnce:
		return v.decide(d, protocol.AllowOnce)
	case does == keymap.Deny:
		return v.decide(d, protocol.Deny)
	}
	return nil
}

func (v *verdict) decide(d *desk, as protocol.Decision) tea.Cmd {
	f := v.form
	o := &f.options[slices.IndexFunc(f.options, func(o option) bool { return o.Kind == as })]
	v.sending, v.err = oneLine(transcript.Clean(o.Label)), ""
	if v.sending == "" {
		v.sending = string(as)
	}
	return d.ask(v.session, protocol.DoApprove, f.data(v.request.Request, o), nil, func(err error) tea.Cmd {
		switch {
		case d.panel != panel(v):
			return d.tell(err)
		case err != nil:
			v.sending, v.err = "", remote.ErrorText(err)
			return nil
		}
		d.panel = nil
		return nil
	})
}

func (v *verdict) paste(*desk, string) {}

// follow takes the request away when it is not the one that waits any more.
func (v *verdict) follow(d *desk, s *protocol.Summary) {
	if s.Session != v.session || !s.Deleted && s.Status == protocol.Waiting && (s.Asked == v.asked || s.Asked != nil && v.asked != nil && s.Asked.Equal(*v.asked)) {
		return
	}
	if d.panel = nil; v.sending == "" {
		d.word = "it was decided meanwhile"
	}
}

func (v *verdict) hint(l *look) string {
	switch {
	case v.sending != "" || v.request == nil:
		return l.keys.Hint(keymap.Back, "back")
	case !v.armed:
		return "a moment …"
	}
	return l.keys.Hint(keymap.AllowOnce, "allow once", keymap.Deny, "deny", keymap.ViewRequest, "view all", keymap.Choose, "open", keymap.Back, "back")
}

func (v *verdict) Render(d *desk, width, rows int) ([]string, *tea.Cursor) {
	l := d.look
	title := l.warn.Render("approval") + " · " + v.name
	var about, last []string
	var hidden int
	if r := v.request; r != nil {
		title += " · " + oneLine(transcript.Clean(r.Kind)) + l.dim.Render(" · asked "+l.clock(r.Asked))
		a := approvals{look: l}
		about, hidden = a.about(r, v.form, width, rows)
	}
	switch {
	case v.err != "":
		last = []string{l.bad.Render(fit("   "+oneLine(transcript.Clean(v.err)), width))}
	case v.sending != "":
		last = []string{l.warn.Render(fit("   sending: "+v.sending+" …", width))}
	}
	v.seen = true
	if room := max(rows-1-len(last), 0); hidden > 0 || len(about) > room {
		keep := min(max(room-1, 0), len(about))
		v.seen = keep > 0
		about = append(about[:keep:keep], l.warn.Render(fit("   … "+count(hidden+len(about)-keep, "line")+" more: "+l.keys.Hint(keymap.ViewRequest, "view all"), width)))
	}
	out := slices.Concat([]string{l.rule(title, width)}, about, last)
	return out[:min(len(out), max(rows, 0))], nil
}
