package sessionview

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// interrupt is the user's interrupt of a turn, from the key press to the end of the turn.
type interrupt struct {
	styles   *ui.Styles
	replica  *replica
	commands *commander

	turn     string             // turn to interrupt; "": none
	question *interruptQuestion // the open overlay, or nil
	sent     bool
}

// start interrupts the running turn. If messages are queued, it returns an overlay that asks what
// to do with them.
func (i *interrupt) start() (tea.Cmd, ui.Overlay) {
	s := i.replica.state
	switch {
	case s.Turn == nil:
		i.commands.status.Text = "no turn is running"
		return nil, nil
	case i.sent:
		return nil, nil
	}
	i.turn = s.Turn.Turn
	if len(s.Queue) > 0 {
		i.question = &interruptQuestion{i}
		return nil, i.question
	}
	return i.send(protocol.QueueKeep), nil
}

// send sends the interrupt. queue is protocol.QueueKeep, QueueHold or QueueClear.
func (i *interrupt) send(queue string) tea.Cmd {
	i.question, i.sent = nil, true
	s := i.replica.state
	queued, held := len(s.Queue), s.BlockingHold() != nil
	result := new(protocol.InterruptResult)
	data := protocol.InterruptData{Turn: i.turn, Queue: queue}
	return i.commands.send(protocol.DoInterrupt, data, result, func(err error) tea.Cmd {
		i.reset()
		if err != nil {
			return i.commands.report(err)
		}
		i.commands.status.Text = describe.Interrupted(result.Interrupted, queue, queued, held)
		return nil
	})
}

// reset clears the interrupt.
func (i *interrupt) reset() { i.turn, i.question, i.sent = "", nil, false }

// expire resets the interrupt if its turn has ended. It returns the overlay to close, or nil.
func (i *interrupt) expire() ui.Overlay {
	s, question := i.replica.state, i.question
	if i.turn == "" || s.Turn != nil && s.Turn.Turn == i.turn {
		return nil
	}
	i.reset()
	if question == nil {
		return nil
	}
	return question
}

// view returns the line below the transcript while the interrupt is under way.
func (i *interrupt) view(width int) []string {
	switch {
	case !i.sent:
		return nil
	case i.replica.conn.State != remote.Connected:
		return []string{i.styles.Warning.Render(ui.Fit("   ── interrupts the turn once connected …", width))}
	}
	return []string{i.styles.Warning.Render(ui.Fit("   ── interrupting …", width))}
}

// interruptQuestion is a docked overlay that asks what to do with the queued messages.
type interruptQuestion struct{ interrupt *interrupt }

// Scope implements [ui.Overlay].
func (q *interruptQuestion) Scope() keymap.Scope { return keymap.Global }

// FullScreen implements [ui.Overlay].
func (q *interruptQuestion) FullScreen() bool { return false }

// Update implements [ui.Overlay].
func (q *interruptQuestion) Update(msg tea.Msg) ui.Response {
	press, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return ui.Response{Pass: true}
	}
	switch press.String() {
	case "k", "enter":
		return ui.Response{Cmd: q.interrupt.send(protocol.QueueKeep), Close: true}
	case "h":
		return ui.Response{Cmd: q.interrupt.send(protocol.QueueHold), Close: true}
	case "C":
		return ui.Response{Cmd: q.interrupt.send(protocol.QueueClear), Close: true}
	case "esc", "q":
		q.interrupt.reset()
		return ui.Response{Close: true}
	}
	return ui.Response{}
}

// View implements [ui.Overlay].
func (q *interruptQuestion) View(width, _ int) ([]string, *tea.Cursor) {
	styles, s := q.interrupt.styles, q.interrupt.replica.state
	keep := "keep: the next starts"
	if s.BlockingHold() != nil {
		keep = "keep: held as it is"
	}
	choices := []string{
		styles.KeyName.Render("k") + " " + keep, styles.KeyName.Render("h") + " hold",
		styles.KeyName.Render("C") + " clear", styles.KeyName.Render("esc") + " back",
	}
	out := []string{
		styles.Rule(styles.Warning.Render("interrupt"), width),
		ui.Fit("   "+fmt.Sprintf("The queue has %s:", ui.Count(len(s.Queue), "message")), width),
	}
	if line := "   " + strings.Join(choices, " · "); ansi.StringWidth(line) <= width {
		return append(out, line), nil
	}
	for _, c := range choices {
		out = append(out, ui.Fit("   "+c, width))
	}
	return out, nil
}
