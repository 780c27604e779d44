package tui

import tea "charm.land/bubbletea/v2"

// tour is a person's way through the sessions that need somebody, from where it
// began and back.
type tour struct {
	home   string // session; "" for all sessions
	chosen string // among all sessions
	passed map[string]bool
}

// next shows the next session that needs somebody; after the last one it comes
// back to where the first press was.
func (d *desk) next() tea.Cmd {
	d.watch()
	here := ""
	if d.shown != nil {
		here = d.shown.id
	}
	if d.tour.passed == nil {
		chosen, _ := d.current()
		d.tour = tour{home: here, chosen: chosen.Session, passed: map[string]bool{}}
	}
	d.tour.passed[here] = true
	id, ok := d.list.NextNeed(func(id string) bool { return d.tour.passed[id] })
	if ok {
		return d.enter(id)
	}
	home := d.tour
	d.tour = tour{}
	const nobody = "nobody else needs you"
	if home.home != "" {
		cmd := d.enter(home.home)
		d.shown.model.word, d.shown.model.dirty = nobody, true
		return cmd
	}
	if d.shown != nil {
		d.leave()
	}
	d.choose(home.chosen)
	d.word = nobody
	return nil
}
