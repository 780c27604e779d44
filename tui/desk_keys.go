package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
)

// key handles a key while all sessions are on the screen.
func (d *desk) key(key string, msg tea.KeyPressMsg) tea.Cmd {
	if key == "ctrl+c" {
		if d.leaving {
			return tea.Quit
		}
		d.leaving = true
		return nil
	}
	d.leaving, d.word = false, ""
	d.fading.anew()
	switch {
	case d.pager != nil:
		if !d.pager.key(key, msg) {
			d.pager = nil
		}
		return nil
	case d.wire != nil:
		return wireKey(&d.wire, key, msg)
	case d.trove != nil:
		return d.trove.key(d, key, msg)
	case d.panel != nil:
		return d.panel.key(d, key, msg)
	}
	switch d.look.keys.at(everywhere, key) {
	case doHelp:
		d.showHelp()
		return nil
	case doSessions:
		return d.back()
	case doNextNeed:
		return d.next()
	case doFind:
		d.showTrove()
		return nil
	case doRetry:
		return d.retry()
	case doWire:
		return d.showWire()
	case doPageUp:
		d.move(-d.rows())
		return nil
	case doPageDown:
		d.move(d.rows())
		return nil
	case doRedraw:
		return tea.ClearScreen
	case doSuspend:
		return tea.Suspend
	}
	return d.listKey(d.look.keys.in(inSessions, key))
}

// listKey does what a key of the list stands for.
func (d *desk) listKey(does action) tea.Cmd {
	switch does {
	case doUp:
		d.move(-1)
	case doDown:
		d.move(1)
	case doFirst:
		d.move(-d.list.Len())
	case doLast:
		d.move(d.list.Len())
	case doFindAll:
		d.showTrove()
	case doFilter:
		d.panel = newFiltering(d)
	case doSort:
		d.list.SetOrder(d.list.Order().Next())
	case doPreview:
		d.preview.on = !d.preview.on
	case doCreate:
		d.panel = newCreating(d)
	case doSessionKeys:
		d.showHelp()
	case doBack:
		if d.filter != "" {
			d.narrow("")
			return nil
		}
		return d.back()
	default:
		if s, ok := d.current(); ok {
			return d.sessionKey(does, &s)
		}
	}
	return nil
}

// sessionKey does what a key stands for that concerns the chosen session.
func (d *desk) sessionKey(does action, s *protocol.Summary) tea.Cmd {
	switch does {
	case doChoose:
		d.tour = tour{}
		return d.enter(s.Session)
	case doRename:
		d.panel = newRenaming(s)
	case doEndSession:
		d.panel = &ending{session: s.Session, name: callOf(s), closed: s.Status == protocol.Closed}
	case doAllow, doDeny:
		return d.decideOn(s)
	}
	return nil
}

// retry tries to connect at once.
func (d *desk) retry() tea.Cmd {
	r, ok := d.fleet.(Retrier)
	if !ok || d.link.State == Connected {
		d.word = string(d.link.State)
		return nil
	}
	d.link = Link{State: Connecting}
	return d.do(func(context.Context) func() tea.Cmd {
		r.Retry()
		return func() tea.Cmd { return nil }
	})
}

// back is to the session that was shown last.
func (d *desk) back() tea.Cmd {
	if len(d.open) == 0 {
		return nil
	}
	return d.enter(d.open[0].id)
}

func (d *desk) showHelp() { d.pager = newPager(d.look, "keys", help{d.look, inSessions}) }

// at is the place of the chosen session, or of what took it; -1 when none is
// there.
func (d *desk) at() int {
	if i := d.list.Index(d.chosen); i >= 0 {
		d.place = i
	}
	return min(d.place, d.list.Len()-1)
}

// current is the session chosen.
func (d *desk) current() (protocol.Summary, bool) {
	at := d.at()
	if at < 0 {
		return protocol.Summary{}, false
	}
	return d.list.At(at), true
}

// move chooses the session so many places further.
func (d *desk) move(by int) {
	if n := d.list.Len(); n > 0 {
		d.place = min(max(d.at()+by, 0), n-1)
		d.chosen = d.list.At(d.place).Session
	}
}

func (d *desk) choose(id string) {
	d.chosen = id
	d.at()
}

func (d *desk) narrow(filter string) {
	d.filter = filter
	d.list.SetFilter(filter)
}

func (d *desk) wheel(msg tea.MouseWheelMsg) tea.Cmd {
	switch {
	case d.pager != nil && msg.Button == tea.MouseWheelUp:
		d.pager.list.Scroll(-3)
	case d.pager != nil:
		d.pager.list.Scroll(3)
	case d.trove != nil && msg.Button == tea.MouseWheelUp:
		return d.trove.move(d, -3)
	case d.trove != nil:
		return d.trove.move(d, 3)
	case msg.Button == tea.MouseWheelUp:
		d.move(-3)
	default:
		d.move(3)
	}
	return nil
}

// click chooses the session that is clicked on; one that is chosen opens.
func (d *desk) click(msg tea.MouseClickMsg) tea.Cmd {
	shape := d.shape()
	i := d.top(shape.rows) + msg.Y - 1
	if d.pager != nil || d.trove != nil || d.panel != nil || msg.Button != tea.MouseLeft || msg.Y < 1 || msg.Y > shape.rows || msg.X >= shape.width || i >= d.list.Len() {
		return nil
	}
	s := d.list.At(i)
	if i == d.at() {
		return d.sessionKey(doChoose, &s)
	}
	d.choose(s.Session)
	return nil
}
