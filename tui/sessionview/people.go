package sessionview

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

const (
	// lookPeriod is the least time between two messages about what this client shows.
	lookPeriod = time.Second

	// pointerTime is how long a pointer marks its item.
	pointerTime = 10 * time.Second

	// pointerName is the maximum width of a name at a pointer, in cells.
	pointerName = 20
)

// people is what the users of a session see of each other: what each reads, and pointers at items.
type people struct {
	sent     protocol.Look // what was told last
	told     bool          // sent is known to the server
	sentAt   time.Time
	refused  bool               // the server takes no looks
	pointers map[string]pointer // by connection, that of this client too
	last     *pointer           // of another user, or nil
	timer    time.Time          // when the pending timer ends; zero: none is pending
}

// pointer is an item that a user points at.
type pointer struct {
	protocol.PointedData
	until time.Time
}

// peopleMsg is sent when a look is due or a pointer has expired.
type peopleMsg struct{}

// peopleChanged tells the server what is on the screen, if others are there, and removes expired
// pointers. The returned command continues both.
func (v *View) peopleChanged() tea.Cmd {
	p, now := &v.transcript.people, v.Now()
	var next time.Time
	at := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	for id, pt := range p.pointers {
		if now.Before(pt.until) {
			at(pt.until)
			continue
		}
		delete(p.pointers, id)
		v.canvas.Dirty = true
	}
	var cmd tea.Cmd
	if v.tellsLook() {
		switch due := p.sentAt.Add(lookPeriod); {
		case now.Before(due):
			at(due)
		default:
			cmd = v.tellLook(now)
		}
	}
	if next.IsZero() || !p.timer.IsZero() && !next.Before(p.timer) {
		return cmd
	}
	p.timer = next
	return tea.Batch(cmd, v.After(next.Sub(now), peopleMsg{}))
}

// tellsLook reports whether another client wants to know what is on the screen, and it may have
// changed.
func (v *View) tellsLook() bool {
	p, r := &v.transcript.people, v.replica
	if p.refused || r.recorded || !r.connected() || !r.caughtUp || len(r.clients) < 2 {
		return false
	}
	return !v.hidden && (!p.told || !v.transcript.view.List.Following() || !p.sent.Live) || v.hidden && p.told &&
		p.sent != protocol.Look{}
}

// tellLook sends what is on the screen unless the server knows it.
func (v *View) tellLook(now time.Time) tea.Cmd {
	p := &v.transcript.people
	look := v.transcript.look()
	if v.hidden {
		look = protocol.Look{}
	}
	if p.told && look == p.sent {
		return nil
	}
	p.sent, p.told, p.sentAt = look, true, now
	data := protocol.LookData{}
	if look != (protocol.Look{}) {
		data.Look = &look
	}
	return v.commands.send(protocol.DoLook, data, nil, func(err error) tea.Cmd {
		switch protocol.CodeOf(err) {
		case protocol.CodeUnsupported, protocol.CodeUnknownCommand, protocol.CodeForbidden:
			p.refused = true
		}
		return nil
	})
}

// look returns what is on the screen.
func (p *transcriptPane) look() protocol.Look {
	list := p.view.List
	if list.Following() || list.Len() == 0 {
		return protocol.Look{Live: true}
	}
	id, ok := list.NextAnchor(transcriptview.TurnAnchor, list.TopItem()+1, -1)
	if !ok {
		return protocol.Look{}
	}
	data, _ := pointAt(list.Item(id))
	return protocol.Look{Turn: data.Turn, Number: p.turnNumber(id)}
}

// turnNumber returns the number of the turn that an item starts, counted from 1, or 0 if it is not
// known.
func (p *transcriptPane) turnNumber(start transcript.ID) int {
	list, after := p.view.List, 0
	for id, ok := list.NextAnchor(transcriptview.TurnAnchor, start, 1); ok; after++ {
		id, ok = list.NextAnchor(transcriptview.TurnAnchor, id, 1)
	}
	total := p.replica.state.Turns
	if p.replica.state.Turn != nil {
		total++
	}
	return max(0, total-after)
}

// reset forgets what the server was told: the connection is a new one.
func (p *people) reset() { p.told, p.refused = false, false }

// pointAt returns an item as others find it. ok is false for an item without a name.
func pointAt(item transcript.Item) (d protocol.PointData, ok bool) {
	anchor, ok := item.(transcript.Anchor)
	if !ok {
		return d, false
	}
	_, name := anchor.Anchor()
	parts := strings.SplitN(name, " ", 3)
	if len(parts) < 3 {
		return d, false
	}
	return protocol.PointData{Turn: parts[0], Kind: protocol.HitKind(parts[1]), Item: parts[2]}, true
}

// point shows the selected item to the other users, or the nearest one before it that has a name.
func (p *transcriptPane) point(id transcript.ID) tea.Cmd {
	list, status := p.view.List, p.commands.status
	if len(p.replica.clients) < 2 {
		status.Text = "you are alone in this session"
		return nil
	}
	for ; id >= list.First(); id-- {
		if d, ok := pointAt(list.Item(id)); ok {
			return p.commands.send(protocol.DoPoint, d, nil, p.commands.report)
		}
	}
	status.Text = "this item cannot be pointed at"
	return nil
}

// applyPointer shows a pointer for a while.
func (v *View) applyPointer(d *protocol.PointedData) {
	p := &v.transcript.people
	if p.pointers == nil {
		p.pointers = map[string]pointer{}
	}
	pt := pointer{*d, v.Now().Add(pointerTime)}
	p.pointers[d.Client] = pt
	if d.Client == v.replica.conn.Connection {
		return
	}
	p.last = &pt
	if v.transcript.rowOf(d) >= 0 {
		return
	}
	text := remote.ActorName(&d.By) + " points at an item"
	list := v.transcript.view.List
	if id, ok := list.FindAnchor(transcriptview.AnchorName(d.Turn, protocol.HitUser, "")); ok {
		text += " of " + describe.TurnName(v.transcript.turnNumber(id))
	}
	v.status.Text = text + ui.Prefixed(keymap.Separator, v.Styles.Keys.Hint(keymap.GoToPointer, "go there"))
}

// find returns the item that a pointer names.
func (p *transcriptPane) find(d *protocol.PointedData) (transcript.ID, bool) {
	return p.view.List.FindAnchor(transcriptview.AnchorName(d.Turn, d.Kind, d.Item))
}

// rowOf returns the first row of the screen that shows the item of a pointer, or -1.
func (p *transcriptPane) rowOf(d *protocol.PointedData) int {
	list := p.view.List
	want, ok := p.find(d)
	for row := 0; ok && row < list.Height(); row++ {
		if id, shown := list.ItemAt(row); shown && id == want {
			return row
		}
	}
	return -1
}

// markPointers adds the names of the users to the lines that they point at.
func (p *transcriptPane) markPointers(lines []string, width int) {
	for id := range p.people.pointers {
		pt := p.people.pointers[id]
		row := p.rowOf(&pt.PointedData)
		if row < 0 || row >= len(lines) {
			continue
		}
		row = p.firstText(lines, row)
		name := "you"
		if id != p.replica.conn.Connection {
			name = ui.Fit(ui.OneLine(transcript.Clean(remote.ActorName(&pt.By))), pointerName)
		}
		mark := p.styles.Accent.Bold(true).Render(" ◂ " + name + " ")
		if room := width - ansi.StringWidth(mark); room > 0 {
			lines[row] = ui.Pad(ansi.Truncate(ui.Sanitize(lines[row]), room, ""), room) + mark
		}
	}
}

// firstText returns the first row from a row that has text of the same item, or the row.
func (p *transcriptPane) firstText(lines []string, row int) int {
	id, _ := p.view.List.ItemAt(row)
	for at := row; at < len(lines); at++ {
		if other, ok := p.view.List.ItemAt(at); !ok || other != id {
			break
		}
		if strings.Trim(ansi.Strip(lines[at]), " ▌") != "" {
			return at
		}
	}
	return row
}

// goToPointer goes to the item that another user pointed at last.
func (v *View) goToPointer() tea.Cmd {
	p := &v.transcript
	pt := p.people.last
	if pt == nil {
		v.status.Text = "no user has pointed at anything yet"
		return nil
	}
	first := uint64(0)
	for _, t := range p.outline.Turns("") {
		if t.ID == pt.Turn {
			first = t.First
		}
	}
	v.setFocus(onTranscript)
	return p.startJump(&jump{
		oldest: first, notFound: "the item is no longer there",
		show: func() bool {
			id, ok := p.find(&pt.PointedData)
			if ok {
				p.view.List.SelectLine(id, 0)
			}
			return ok
		},
	})
}
