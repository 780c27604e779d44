package tui

import (
	"slices"
	"strings"
	"time"

	"agentctl/tui/remote"
	"agentctl/tui/task"

	tea "charm.land/bubbletea/v2"
)

// enter puts a session on the screen, subscribing to it if it is not among
// those that are. The one that was not shown for longest is given up for it.
func (d *desk) enter(id string) tea.Cmd {
	if d.shown != nil {
		d.leave()
	}
	if i := d.openAt(id); i >= 0 {
		d.shown = d.open[i]
		d.open = slices.Delete(d.open, i, i+1)
	} else {
		d.shown = d.subscribe(id)
	}
	d.choose(id)
	d.open = slices.Insert(d.open, 0, d.shown)
	if last := len(d.open) - 1; last >= d.keep {
		if d.open[last].id == d.tour.home && d.keep > 1 {
			last-- // where the person comes back to stays as it is
		}
		d.leaveDraft(d.open[last])
		d.end(last)
	}
	d.shown.model.hidden = false
	d.shown.model.listPlan()
	d.tellOthers()
	return d.route(d.shown, tea.WindowSizeMsg{Width: d.width, Height: d.height})
}

// leaveDraft keeps what was written and not sent in a session that is given up.
func (d *desk) leaveDraft(o *opened) {
	texts := o.model.outbox.texts()
	if text := o.model.composer.unsent(); text != "" {
		texts = append(texts, text)
	}
	if len(texts) > 0 {
		d.drafts[o.id] = strings.Join(texts, "\n\n")
	}
}

// leave brings all sessions back. The one that was shown stays subscribed.
func (d *desk) leave() {
	o := d.shown
	o.model.hidden = true
	o.model.listPlan()
	d.shown = nil
	d.dirty = true
	if o.gone {
		d.giveUp(o.id)
	}
}

// giveUp ends the subscription of a session that is gone; one that is on the
// screen may still be read, until it is left.
func (d *desk) giveUp(id string) {
	i := d.openAt(id)
	if i < 0 {
		return
	}
	if d.open[i] == d.shown {
		d.shown.gone = true
		return
	}
	d.end(i)
}

// end ends a subscription.
func (d *desk) end(i int) {
	o := d.open[i]
	d.open = slices.Delete(d.open, i, i+1)
	for id, over := range d.ending {
		select {
		case <-over:
			delete(d.ending, id)
		default:
		}
	}
	d.ending[o.id] = o.over
	d.under.Go(o.work.Close)
}

// openAt is where a session is among those subscribed; -1: it is not.
func (d *desk) openAt(id string) int {
	return slices.IndexFunc(d.open, func(o *opened) bool { return o.id == id })
}

// subscribed is the session if it is among those subscribed, or nil.
func (d *desk) subscribed(id string) *opened {
	if i := d.openAt(id); i >= 0 {
		return d.open[i]
	}
	return nil
}

func (d *desk) subscribe(id string) *opened {
	d.preview.stop()
	s := d.fleet.Session(id)
	o := &opened{id: id, work: task.NewRunner(d.ctx), over: make(chan struct{})}
	o.work.Address = o
	o.work.OnPanic = d.broke
	o.model = newModel(s, o.work, d.look, d.now, d.newID)
	o.model.mouse, o.model.desk = d.mouse, true
	o.model.editor = d.editor
	o.model.after = func(wait time.Duration, msg tea.Msg) tea.Cmd { return d.after(wait, o.work.Wrap(msg)) }
	o.model.composer.write(d.drafts[id])
	delete(d.drafts, id)
	o.model.attention.terminal = d.attention.terminal
	o.model.mux = d.mux
	looked, before := d.preview.ended, d.ending[id]
	d.under.Go(func() {
		if before != nil {
			<-before
		}
		if wait(o.work.Context(), looked) {
			d.pumped(task.Pump(o.work.Context(), s.Updates, func(b []remote.Update) { d.send(task.Message{To: o, Msg: batch(b)}) }))
		}
		close(o.over)
		d.send(task.Message{To: o, Msg: outMsg{}})
	})
	return o
}

// route gives a message to a session's model; what comes of it comes back to
// the same model.
func (d *desk) route(o *opened, msg tea.Msg) tea.Cmd {
	if !slices.Contains(d.open, o) {
		return nil // it was given up meanwhile
	}
	_, cmd := o.model.Update(msg)
	if o.model.caughtUp || o.model.link.State == remote.Offline {
		d.watch()
	}
	if d.shown == nil && d.preview.on && d.chosen == o.id {
		d.dirty = true
	}
	return cmd
}
