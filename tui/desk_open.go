package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// enter puts a session on the screen, subscribing to it if it is not among
// those that are. The one that was not shown for longest is given up for it.
func (d *desk) enter(id string) tea.Cmd {
	i := slices.IndexFunc(d.open, func(o *opened) bool { return o.id == id })
	if i >= 0 {
		d.shown = d.open[i]
		d.open = slices.Delete(d.open, i, i+1)
	} else {
		d.shown = d.subscribe(id)
	}
	d.roster.chosen = id
	d.open = slices.Insert(d.open, 0, d.shown)
	if len(d.open) > sessionsKept {
		last := d.open[len(d.open)-1]
		d.open = d.open[:len(d.open)-1]
		d.leaveDraft(last)
		d.under.Go(last.work.close)
	}
	d.shown.model.hidden = false
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

// leave brings the roster back. The session stays subscribed.
func (d *desk) leave() {
	d.shown.model.hidden = true
	d.shown = nil
	d.dirty = true
}

func (d *desk) subscribe(id string) *opened {
	s := d.fleet.Session(id)
	o := &opened{id: id, work: newErrands(d.ctx)}
	o.model = newModel(s, o.work, d.look, d.now, d.newID)
	o.model.mouse, o.model.desk = d.mouse, true
	o.model.editor = d.editor
	o.model.composer.write(d.drafts[id])
	delete(d.drafts, id)
	o.model.attention.terminal = d.attention.terminal
	d.under.Go(func() {
		pump(o.work.ctx, s.Updates, func(b []Update) { d.send(routed{o, batch(b)}) })
		d.send(routed{o, outMsg{}})
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
	return address(o, cmd)
}

// address makes the messages of a session's command find their way back.
func address(o *opened, cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		switch msg := cmd().(type) {
		case batch, armMsg, tickMsg, outMsg, olderMsg, findMsg, editedMsg, doneMsg, wireMsg, wireSavedMsg:
			return routed{o, msg}
		case tea.BatchMsg:
			out := make(tea.BatchMsg, len(msg))
			for i, c := range msg {
				out[i] = address(o, c)
			}
			return out
		default:
			return msg // for the program: leave, suspend, clipboard
		}
	}
}
