package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// tick wakes the program once a second while a clock is on the screen.
func (d *desk) tick() tea.Cmd {
	if d.ticking || d.shown != nil || d.list.CountWaiting("") == 0 && d.link.State != Reconnecting {
		return nil
	}
	d.ticking = true
	return d.after(time.Second, tickMsg{})
}

// changed takes news of sessions; who waits elsewhere shows on every screen.
func (d *desk) changed(changes []rosterChange) tea.Cmd {
	var calls []tea.Cmd
	for _, c := range changes {
		if c.err != nil {
			d.lost = errText(c.err)
			continue
		}
		d.list.Put(c.summary)
		calls = append(calls, d.attention.glance(&c.summary))
		if d.panel != nil {
			d.panel.follow(d, &c.summary)
		}
		if c.summary.Deleted {
			d.giveUp(c.summary.Session)
			delete(d.drafts, c.summary.Session)
		}
	}
	d.dirty = true
	d.tellOthers()
	return tea.Batch(calls...)
}

// tellOthers tells the session on the screen who else wants somebody.
func (d *desk) tellOthers() {
	if d.shown == nil {
		return
	}
	d.list.MarkSeen(d.shown.id)
	others := ""
	if n := d.list.CountWaiting(d.shown.id); n > 0 {
		others = count(n, "other") + " waiting"
		if key := d.look.keys.key(doNextNeed); key != "" {
			others += ": " + key
		}
	}
	if m := d.shown.model; m.others != others {
		m.others, m.dirty = others, true
	}
}
