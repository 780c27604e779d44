package tui

import (
	"cmp"
)

// Left describes what was on the screen when the user left.
type Left struct {
	Session   string // name or ID; "": the list of sessions
	Server    string // name of the session's server; "": home
	Ended     bool   // the session is closed or deleted
	Connected bool
	Beside    int // number of other sessions side by side with it
}

// left returns what is on the screen.
func (p *program) left() Left {
	o := p.sessions.shown
	if o == nil {
		return Left{Connected: true}
	}
	server := ""
	if p.dashboard != nil {
		server = p.dashboard.OtherServer(o.id)
	}
	state := o.view.Session().State
	return Left{
		Server:  server,
		Session: cmp.Or(state.Name, state.Session), Ended: state.Closed || o.deleted,
		Connected: o.view.Session().Connected(),
		Beside:    max(0, p.panes.layout.Len()-1),
	}
}

// reportLeft calls the function that the caller gave for it, unless nothing of the session was
// received.
func (b *builder) reportLeft(p *program) {
	if b.options.Left == nil {
		return
	}
	if o := p.sessions.shown; o == nil || o.view.Session().State.Session != "" || o.view.Session().Connected() {
		b.options.Left(p.left())
	}
}
