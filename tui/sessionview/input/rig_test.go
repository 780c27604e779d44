package input

import (
	"fmt"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/attachment"
	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/drafts"
	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/sessionview/queue"
	"agentctl/tui/ui"
)

// rig is an input with the parts that it sends to: queue, outbox and interrupt.
type rig struct {
	*paneltest.Rig
	t       *testing.T
	in      *Input
	outbox  *Outbox
	actions panel.Actions // of the input, the outbox and the interrupt
	timers  []tea.Msg     // started and not yet fired
	left    bool          // the last ctrl+c had nothing to clear or to stop
	forked  ForkedIntent
	edited  ui.EditIntent // the last text to edit
	rows    int           // scrolled
}

// Scroll implements [Transcript].
func (r *rig) Scroll(rows int) { r.rows += rows }

// ScrollToBottom implements [Transcript].
func (r *rig) ScrollToBottom() {}

// Escape implements [Transcript]. The transcript is at its end.
func (r *rig) Escape() bool { return false }

// RequestOlder implements [Transcript]. There are no older turns.
func (r *rig) RequestOlder() (cmd tea.Cmd, older bool) { return nil, false }

// open returns a rig that has applied the pending events of a journal.
func open(t *testing.T, j *tuitest.Journal, width int) *rig {
	t.Helper()
	r := &rig{Rig: paneltest.New(t, j), t: t}
	ids := 0
	newID := func() string {
		ids++
		return fmt.Sprintf("client-m%d", 100+ids)
	}
	base := panel.Base{Styles: r.Styles, Replica: r.Replica, Commands: r.Commands, Now: r.Now}
	r.outbox = &Outbox{Base: base, Restore: func(text string, files []attachment.File) {
		r.in.Restore(text, files)
	}}
	q := queue.New(queue.Config{
		Base: base, NewID: newID,
		Editing: func() string { return r.in.Editing() },
	})
	r.in = New(Config{
		Base: base, Overlays: &r.Overlays, Outbox: r.outbox, Queue: q, Transcript: r, NewID: newID,
		After: func(_ time.Duration, msg tea.Msg) tea.Cmd {
			r.timers = append(r.timers, msg)
			return nil
		},
		TakesText: func(keymap.Action) bool { return false },
		Forked:    func(i ForkedIntent) { r.forked = i },
	})
	interrupt := &panel.Interrupt{Base: base}
	r.actions = panel.Join(r.in.Actions(), r.outbox.Actions(), interrupt.Actions())
	r.Apply = func(e *protocol.Event) {
		r.in.recall.Apply(e)
		r.outbox.Apply(e)
	}
	r.Lines = func() []string {
		input, _ := r.in.View(width, 8)
		return slices.Concat(r.outbox.View(width, 8), r.in.CommandLines(width), r.in.FileLines(width),
			[]string{r.in.Title()}, input)
	}
	r.ApplyJournal()
	return r
}

// applyJournal applies the pending updates of the journal to the parts of the input, as the view does.
func (r *rig) applyJournal() {
	r.t.Helper()
	r.ApplyJournal()
	for _, part := range r.in.Parts() {
		r.Run(part.Updated())
	}
}

// update gives a message to the overlays and the input, as the view does, and runs the commands.
func (r *rig) update(msg tea.Msg) {
	r.t.Helper()
	for _, next := range r.Run(tea.Batch(r.handle(msg), r.in.Handled(msg))) {
		r.update(next)
	}
}

func (r *rig) handle(msg tea.Msg) tea.Cmd {
	press, isKey := msg.(tea.KeyPressMsg)
	if isKey && press.String() == "ctrl+c" {
		if o, ok := r.Overlays.Top().(interface{ Interrupt() bool }); ok && o.Interrupt() {
			return nil
		}
		cmd, cleared := r.in.Clear()
		r.left = !cleared
		return cmd
	}
	if isKey {
		r.Commands.Status.Clear()
	}
	cmd, intents, pass := r.Overlays.Update(msg)
	for _, i := range intents {
		more := r.in.HandleIntent(i)
		cmd = tea.Batch(cmd, more)
	}
	switch {
	case !pass || len(intents) > 0:
	case isKey:
		cmd = tea.Batch(cmd, r.press(press))
	case ui.IsInput(msg):
		cmd = tea.Batch(cmd, r.in.Paste(msg.(tea.PasteMsg).Content))
	default:
		for _, part := range r.in.Parts() {
			more, _ := part.Update(msg)
			cmd = tea.Batch(cmd, more)
		}
	}
	return cmd
}

func (r *rig) press(msg tea.KeyPressMsg) tea.Cmd {
	if r.in.Begin(msg.String()) || r.in.Write(msg) {
		return nil
	}
	if result, handled := r.in.HandleList(msg); handled {
		return r.apply(result)
	}
	if a, ok := r.actions[r.Styles.Keys.At(keymap.Global, msg.String())]; ok {
		return r.apply(a.Run(""))
	}
	return r.apply(r.in.Press(msg))
}

// apply carries out a result of the input.
func (r *rig) apply(result panel.Result) tea.Cmd {
	if result.Push != nil {
		r.Overlays.Push(result.Push)
	}
	switch i := result.Intent.(type) {
	case panel.RunIntent:
		return r.apply(r.actions[i.Action].Run(i.Text))
	case ui.EditIntent:
		r.edited = i
	}
	return result.Cmd
}

// act carries out an action of the input.
func (r *rig) act(action keymap.Action) {
	r.t.Helper()
	for _, msg := range r.Run(r.apply(r.actions[action].Run(""))) {
		r.update(msg)
	}
}

// keys gives keys by name.
func (r *rig) keys(names ...string) {
	r.t.Helper()
	for _, name := range names {
		if name == "up" || name == "down" {
			r.Time = r.Time.Add(2 * keyInterval) // slower than a mouse wheel that sends arrow keys
		}
		r.update(tuitest.KeyPress(name))
	}
}

func (r *rig) typeText(text string) {
	r.t.Helper()
	for _, c := range text {
		r.update(tea.KeyPressMsg{Code: c, Text: string(c)})
	}
}

func (r *rig) paste(text string) { r.update(tea.PasteMsg{Content: text}) }

// send types a message and sends it.
func (r *rig) send(text string) {
	r.typeText(text)
	r.keys("enter")
}

// edit edits the first queued message.
func (r *rig) edit() {
	r.Run(r.in.EditQueued(r.Replica.State.Queue[0]))
}

// fireTimers fires the timers that were started.
func (r *rig) fireTimers() {
	timers := r.timers
	r.timers = nil
	for _, msg := range timers {
		r.update(msg)
	}
}

// saveTo makes the input save its draft in saved.
func (r *rig) saveTo(saved *[]drafts.Draft) {
	r.in.drafts.write = func(d drafts.Draft) { *saved = append(*saved, d) }
}

// mustNotLeave fails if the last ctrl+c had nothing to clear or to stop.
func (r *rig) mustNotLeave() {
	r.t.Helper()
	if r.left {
		r.t.Fatal("ctrl+c leaves")
	}
}

// mustCompose fails unless the text field has a text.
func (r *rig) mustCompose(want string) {
	r.t.Helper()
	if got := r.in.composer.Text(); got != want {
		r.t.Fatalf("got composer text %q, want %q", got, want)
	}
}
