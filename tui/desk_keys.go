package tui

import (
	"context"

	"agentctl/tui/keymap"
	"agentctl/tui/remote"

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
	switch d.look.keys.At(keymap.Global, key) {
	case keymap.Help:
		d.showHelp()
		return nil
	case keymap.ShowSessions:
		return d.back()
	case keymap.NextPending:
		return d.next()
	case keymap.Find:
		d.showTrove()
		return nil
	case keymap.Reconnect:
		return d.retry()
	case keymap.ShowProtocolLog:
		return d.showWire()
	case keymap.PageUp:
		d.move(-d.rows())
		return nil
	case keymap.PageDown:
		d.move(d.rows())
		return nil
	case keymap.Redraw:
		return tea.ClearScreen
	case keymap.Suspend:
		return tea.Suspend
	}
	return d.listKey(d.look.keys.InList(keymap.Sessions, key))
}

// listKey does what a key of the list stands for.
func (d *desk) listKey(does keymap.Action) tea.Cmd {
	switch does {
	case keymap.Up:
		d.move(-1)
	case keymap.Down:
		d.move(1)
	case keymap.First:
		d.move(-d.list.Len())
	case keymap.Last:
		d.move(d.list.Len())
	case keymap.SearchSessions:
		d.showTrove()
	case keymap.FilterSessions:
		d.panel = newFiltering(d)
	case keymap.SortSessions:
		d.list.SetOrder(d.list.Order().Next())
	case keymap.TogglePreview:
		d.preview.on = !d.preview.on
	case keymap.NewSession:
		d.panel = newCreating(d)
	case keymap.SessionsHelp:
		d.showHelp()
	case keymap.Back:
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
func (d *desk) sessionKey(does keymap.Action, s *protocol.Summary) tea.Cmd {
	switch does {
	case keymap.Choose:
		d.tour = tour{}
		return d.enter(s.Session)
	case keymap.RenameSession:
		d.panel = newRenaming(s)
	case keymap.CloseOrDelete:
		d.panel = &ending{session: s.Session, name: callOf(s), closed: s.Status == protocol.Closed}
	case keymap.AllowOnce, keymap.Deny:
		return d.decideOn(s)
	}
	return nil
}

// retry tries to connect at once.
func (d *desk) retry() tea.Cmd {
	r, ok := d.fleet.(remote.Retrier)
	if !ok || d.link.State == remote.Connected {
		d.word = string(d.link.State)
		return nil
	}
	d.link = remote.Conn{State: remote.Connecting}
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

func (d *desk) showHelp() { d.pager = newPager(d.look, "keys", help{d.look, keymap.Sessions}) }

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
		return d.sessionKey(keymap.Choose, &s)
	}
	d.choose(s.Session)
	return nil
}
