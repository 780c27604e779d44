package tui

import (
	"context"
	"fmt"
	"os"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/highlight"
	"agentctl/tui/protolog"
	"agentctl/tui/transcript"
)

// Wired is a Session or a Fleet whose connection can be looked at. Its log is the
// same every time.
type Wired interface{ Wire() *protolog.Log }

// wire is the connection as it is, message by message, on a screen of its own.
// While it is open an errand reads the log.
type wire struct {
	look   *look
	work   *errands
	now    func() time.Time
	mux    multiplexer
	log    *protolog.Log
	reader *protolog.Reader // of the errand that is under way
	panel  *protolog.List
	open   context.Context // ends when the screen is left
	leave  context.CancelFunc

	reading bool // an errand is under way
	paused  bool
	rows    int              // on the screen
	input   *textinput.Model // while the words of the filter are written
	pager   *pager           // one message
	word    string
	fading  fading // of it
}

// wirePace is the least time between two readings.
const wirePace = 50 * time.Millisecond

// Messages of the wire's errands.
type (
	wireMsg struct {
		of      *wire
		reading protolog.Batch
	}
	wireSavedMsg struct {
		of   *wire
		word string
	}
)

// openWire opens the wire of a session or a fleet; nil when there is nothing to see.
func openWire(of any, l *look, work *errands, now func() time.Time, mux multiplexer) *wire {
	wired, ok := of.(Wired)
	if !ok || wired.Wire() == nil {
		return nil
	}
	log := wired.Wire()
	w := &wire{look: l, work: work, now: now, mux: mux, log: log, reader: protolog.NewReader(log), panel: protolog.NewList()}
	w.open, w.leave = context.WithCancel(work.ctx)
	return w
}

// read reads on, unless that is under way or paused.
func (w *wire) read() tea.Cmd {
	if w.reading || w.paused {
		return nil
	}
	w.reading = true
	pace := time.Duration(0)
	if _, all, _ := w.panel.Counts(); all > 0 {
		pace = wirePace
	}
	return w.work.run(func(context.Context) tea.Msg {
		select {
		case <-time.After(pace):
		case <-w.open.Done():
			return nil
		}
		r, err := w.reader.Next(w.open)
		if err != nil {
			return nil // the screen was left
		}
		return wireMsg{w, r}
	})
}

// owns tells whether a message comes of this wire's errands.
func (w *wire) owns(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case wireMsg:
		return msg.of == w
	case wireSavedMsg:
		return msg.of == w
	}
	return false
}

// take takes what an errand brought.
func (w *wire) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case wireMsg:
		w.reading = false
		w.panel.Append(msg.reading)
		return w.read()
	case wireSavedMsg:
		w.word = msg.word
	}
	return nil
}

// key handles a key; open is false when the screen is to be left.
func (w *wire) key(key string, msg tea.KeyPressMsg) (cmd tea.Cmd, open bool) {
	w.word = ""
	w.fading.anew()
	switch {
	case w.pager != nil:
		if !w.pager.key(key, msg) {
			w.pager = nil
		}
		return nil, true
	case w.input != nil:
		w.write(key, msg)
		return nil, true
	}
	f := w.panel.Filter()
	switch w.look.keys.in(inWire, key) {
	case doLeaveWire, doBack:
		if !f.IsZero() && key == "esc" {
			w.panel.SetFilter(protolog.Filter{})
			return nil, true
		}
		w.leave()
		return nil, false
	case doUp:
		w.panel.MoveSelection(-1)
	case doDown:
		w.panel.MoveSelection(1)
	case doWireUp:
		w.panel.MoveSelection(-max(1, w.rows-1))
	case doWireDown:
		w.panel.MoveSelection(max(1, w.rows-1))
	case doFirst:
		w.panel.SelectFirst()
	case doLast:
		w.panel.SelectLast()
	case doChoose:
		w.examine()
	case doWireWords:
		w.input = newWords(f.Query)
	case doWireWay:
		f.Direction = f.Direction.Next()
		w.panel.SetFilter(f)
	case doWireType:
		w.sameType(f)
	case doWirePause:
		w.paused = !w.paused
		return w.read(), true
	case doWireCopy:
		if m := w.panel.Selected(); m != nil {
			w.word = "copied"
			return w.mux.copyOf(transcript.Clean(string(m.Text))), true
		}
	case doWireSave:
		return w.save(), true
	}
	return nil, true
}

// wheel moves by rows.
func (w *wire) wheel(by int) {
	if w.pager != nil {
		w.pager.list.Scroll(by)
		return
	}
	w.panel.MoveSelection(by)
}

// sameType shows only what is of the chosen message's type, or all types again.
func (w *wire) sameType(f protolog.Filter) {
	switch m := w.panel.Selected(); {
	case f.Type != "":
		f.Type = ""
	case m != nil && !m.Note:
		f.Type = m.Type()
	}
	w.panel.SetFilter(f)
}

// write edits the words of the filter, which counts as it is written.
func (w *wire) write(key string, msg tea.KeyPressMsg) {
	f := w.panel.Filter()
	switch key {
	case "enter":
		w.input = nil
		return
	case "esc":
		w.input, f.Query = nil, ""
	default:
		*w.input, _ = w.input.Update(msg)
		f.Query = w.input.Value()
	}
	w.panel.SetFilter(f)
}

// paste inserts into the words that are written.
func (w *wire) paste(s string) {
	switch {
	case w.pager != nil:
		w.pager.paste(s)
	case w.input != nil:
		w.write("", tea.KeyPressMsg{Text: oneLine(transcript.Clean(s))})
	}
}

// examine shows the chosen message whole.
func (w *wire) examine() {
	m := w.panel.Selected()
	if m == nil {
		return
	}
	title := fmt.Sprintf("frame %d · %s · %s", m.Frame, oneLine(transcript.Clean(m.Label)), count(m.Size, "byte"))
	w.pager = newPager(w.look, title, sheets(w.look, m.Pretty(), asCode(highlight.ByName("json")))...)
}

// save writes all that is kept to a file in the working directory.
func (w *wire) save() tea.Cmd {
	name := "agentctl-wire-" + w.now().Format("20060102-150405") + ".jsonl"
	return w.work.run(func(context.Context) tea.Msg {
		n, err := saveWire(w.log, name)
		if err != nil {
			return wireSavedMsg{w, err.Error()}
		}
		return wireSavedMsg{w, count(n, "frame") + " saved to " + name}
	})
}

func saveWire(log *protolog.Log, name string) (n int, err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, fmt.Errorf("save the wire: %w", err)
	}
	defer func() {
		if bad := file.Close(); err == nil && bad != nil {
			err = fmt.Errorf("save the wire: %w", bad)
		}
	}()
	return log.WriteJSON(file)
}

// show makes the wire, or a message of it, the whole screen.
func (w *wire) show(v *tea.View, width, height int) {
	if w.pager != nil {
		w.pager.show(v, width, height)
		return
	}
	lines, cursor := w.Render(width, height)
	v.SetContent(w.look.frame(lines, width, height))
	if cursor != nil && cursor.X < width && cursor.Y < height {
		v.Cursor = cursor
	}
}

// Render is the messages, and where the cursor is.
func (w *wire) Render(width, height int) ([]string, *tea.Cursor) {
	w.rows = max(0, height-2)
	lines := append([]string{w.look.rule(w.title(), width)}, w.panel.Rows(width, w.rows, &protolog.Styles{
		Sent: w.look.user.Render, Received: w.look.agent.Render, Note: w.look.warn.Render, Error: w.look.bad.Render,
		Dim: w.look.dim.Render, Selected: w.look.chosen.Render, Location: w.look.zone,
	})...)
	for len(lines) < height-1 {
		lines = append(lines, "")
	}
	lines = lines[:min(len(lines), max(0, height-1))]
	if w.input != nil {
		label := " words: "
		w.input.SetWidth(max(1, width-ansi.StringWidth(label)-1))
		x := ansi.StringWidth(label)
		if c := w.input.Cursor(); c != nil {
			x += c.X
		}
		return append(lines, fit(w.look.key.Render(label)+w.input.View(), width)), tea.NewCursor(x, height-1)
	}
	if w.word != "" {
		return append(lines, w.look.warn.Render(fit(" "+oneLine(transcript.Clean(w.word)), width))), nil
	}
	hint := w.look.keys.hint(doChoose, "shows", doWireWords, "words", doWireWay, "way", doWireType, "type", doWirePause, "pause",
		doWireCopy, "copies", doWireSave, "saves")
	back := w.look.keys.hint(doLeaveWire, "back")
	return append(lines, w.look.chosen.Render(spread(" "+hints(hint, width-ansi.StringWidth(back)-2), back, width))), nil
}

// title says what is shown of the wire.
func (w *wire) title() string {
	shown, all, bytes := w.panel.Counts()
	out := w.look.bold.Render("the wire") + " · " + count(all, "message") + " · " + protolog.FormatSize(bytes)
	f := w.panel.Filter()
	if !f.IsZero() {
		out += " · " + w.look.warn.Render(fmt.Sprintf("%d shown: %s", shown, oneLine(transcript.Clean(f.String()))))
	}
	switch {
	case w.paused:
		out += " · " + w.look.warn.Render("paused")
	case w.panel.Following():
		out += " · follows"
	}
	return out
}
