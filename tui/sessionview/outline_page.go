package sessionview

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/outline"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// outlineTurns is the number of turns that the page requests at a time.
const outlineTurns = 100

// outlinePage is an overlay with the turns of the session, filtered by the words typed.
type outlinePage struct {
	pane     *transcriptPane
	input    *ui.TextInput
	selected string // id of a turn; "": the newest
	loading  bool
	closed   bool
	failed   string // why older turns are not loaded
	rows     int    // of the list, at the last drawing
}

// turnIntent asks the view to show a turn.
type turnIntent struct{ turn *outline.Turn }

// openOutline returns the page and a command that requests older turns.
func (p *transcriptPane) openOutline() (ui.Overlay, tea.Cmd) {
	page := &outlinePage{pane: p, input: p.styles.NewTextInput(""), rows: 1}
	return page, page.requestOlder()
}

// Scope implements [ui.Overlay].
func (o *outlinePage) Scope() keymap.Scope { return keymap.Outline }

// FullScreen implements [ui.Overlay].
func (o *outlinePage) FullScreen() bool { return true }

// Update implements [ui.Overlay]. The filter takes every key that writes.
func (o *outlinePage) Update(msg tea.Msg) ui.Response {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return o.press(msg)
	case tea.PasteMsg:
		o.input.Paste(msg.Content)
	case tea.MouseWheelMsg:
		o.move(ui.WheelRows(msg))
	}
	return ui.Response{Cmd: o.requestOlder()}
}

func (o *outlinePage) press(msg tea.KeyPressMsg) ui.Response {
	keys, key := o.pane.styles.Keys, msg.String()
	action := keys.At(keymap.Outline, key)
	if ui.Writes(msg) {
		action = ""
	}
	switch action {
	case keymap.OutlineUp:
		o.move(-1)
	case keymap.OutlineDown:
		o.move(1)
	case keymap.OutlinePageUp:
		o.move(-o.rows)
	case keymap.OutlinePageDown:
		o.move(o.rows)
	case keymap.OutlineJump:
		turns := o.turns()
		if len(turns) == 0 {
			return ui.Response{}
		}
		o.closed = true
		return ui.Response{Close: true, Intent: turnIntent{turns[o.index(turns)]}}
	case keymap.OutlineClose:
		o.closed = true
		return ui.Response{Close: true}
	default:
		o.input.Press(msg)
	}
	return ui.Response{Cmd: o.requestOlder()}
}

func (o *outlinePage) turns() []*outline.Turn { return o.pane.outline.Turns(o.input.Value()) }

// index returns the index of the selected turn, or that of the newest one.
func (o *outlinePage) index(turns []*outline.Turn) int {
	if i := slices.IndexFunc(turns, func(t *outline.Turn) bool { return t.ID == o.selected }); i >= 0 {
		return i
	}
	return len(turns) - 1
}

// move moves the selection.
func (o *outlinePage) move(by int) {
	if turns := o.turns(); len(turns) > 0 {
		o.selected = turns[max(0, min(o.index(turns)+by, len(turns)-1))].ID
	}
}

// requestOlder requests older turns while the list has room for them: near its top, or if few turns
// match the filter.
func (o *outlinePage) requestOlder() tea.Cmd {
	p := o.pane
	turns := o.turns()
	before := p.outline.OlderThan()
	if before == 0 || o.loading || o.closed || !p.replica.connected() || o.index(turns) > o.rows {
		return nil
	}
	o.loading = true
	epoch, page := p.replica.epoch, new(protocol.HistoryResult)
	data := protocol.HistoryData{Before: before, Limit: outlineTurns}
	return p.commands.send(protocol.DoHistory, data, page, func(err error) tea.Cmd {
		o.loading = false
		switch {
		case p.replica.epoch != epoch || page.Epoch != "" && page.Epoch != epoch:
			return o.requestOlder()
		case err == nil && p.outline.OlderThan() == before:
			err = p.outline.Prepend(page)
		}
		if err != nil {
			p.outline.StopPaging()
			o.failed = remote.ErrorText(err)
		}
		return o.requestOlder()
	})
}

// View implements [ui.Overlay].
func (o *outlinePage) View(width, height int) ([]string, *tea.Cursor) {
	const label = "filter: "
	s, turns := o.pane.styles, o.turns()
	index := o.index(turns)
	o.rows = max(1, height-4)
	shown, selected := ui.Window(turns, index, o.rows)
	out := []string{s.Rule(o.title(len(turns)), width), s.InputLine(" "+label, o.input, width), ""}
	for i, t := range shown {
		out = append(out, o.row(t, width, i == selected))
	}
	if len(turns) == 0 {
		text := "no turns yet"
		if o.input.Value() != "" {
			text = "no turn matches"
		}
		out = append(out, s.Dim.Render(ui.Fit(" "+text, width)))
	}
	for len(out) < height-1 {
		out = append(out, "")
	}
	hint := s.Keys.Hint(keymap.OutlineJump, "go to turn", keymap.OutlineUp, "up", keymap.OutlineDown, "down")
	closing := s.Keys.Hint(keymap.OutlineClose, "close")
	footer := ui.Spread(" "+ui.FitHints(hint, width-ansi.StringWidth(closing)-2), closing, width)
	out = append(out[:max(0, min(len(out), height-1))], s.Selected.Render(footer))
	return out, ui.InputCursor(" "+label, o.input, 1)
}

// title tells how many turns match, and whether all of them are known.
func (o *outlinePage) title(matches int) string {
	p := o.pane
	all := len(p.outline.Turns(""))
	title := "turns · " + fmt.Sprint(matches)
	if o.input.Value() != "" {
		title += fmt.Sprintf(" of %d", all)
	}
	switch {
	case o.failed != "":
		title += " · older turns not available: " + format.JoinLines(transcript.Clean(o.failed))
	case p.outline.OlderThan() == 0:
	case o.loading:
		title += " · loading older turns …"
	case !p.replica.connected():
		title += " · older turns need a connection"
	default:
		title += " · older turns above"
	}
	return title
}

// row returns the line of a turn: its time and message, and details as far as they fit.
func (o *outlinePage) row(t *outline.Turn, width int, selected bool) string {
	s := o.pane.styles
	text := ui.Excerpt(t.Prompt)
	if text == "" {
		text = "(no text)"
	}
	left := "   " + s.Clock(t.Started) + "  " + text
	details := o.details(t)
	right := strings.Join(details, " · ")
	for len(details) > 1 && ansi.StringWidth(right) > width/2 {
		details = details[:len(details)-1]
		right = strings.Join(details, " · ")
	}
	if selected {
		return s.Selected.Render(ui.Spread(" ▸"+left[2:], right+" ", width))
	}
	style := &s.Dim
	if t.End != nil && t.End.Failed() {
		style = &s.Error
	}
	return ui.Spread(left, style.Render(right)+" ", width)
}

// details returns the state of a turn, its duration, tool calls and cost.
func (o *outlinePage) details(t *outline.Turn) []string {
	state := o.pane.replica.state
	var out []string
	switch {
	case t.End != nil:
		out = append(out, format.JoinLines(transcript.Clean(describe.Reason(t.End.Reason))))
		if t.End.DurationMS > 0 {
			out = append(out, format.Duration(format.Millis(t.End.DurationMS)))
		}
	case state.Turn != nil && state.Turn.Turn == t.ID && len(state.Approvals) > 0:
		out = append(out, "waiting for approval")
	case state.Turn != nil && state.Turn.Turn == t.ID:
		out = append(out, "running")
	default:
		out = append(out, "no end")
	}
	if n := t.Tools(); n > 0 {
		out = append(out, format.Count(n, "tool call"))
	}
	if t.End != nil && t.End.Usage != nil && t.End.Usage.Cost > 0 {
		currency := format.JoinLines(transcript.Clean(t.End.Usage.Currency))
		out = append(out, strings.TrimSpace(fmt.Sprintf("%.2f %s", t.End.Usage.Cost, currency)))
	}
	return out
}

// jumpToTurn moves to a turn that may not be loaded yet.
func (p *transcriptPane) jumpToTurn(t *outline.Turn) tea.Cmd {
	return p.startJump(&jump{
		oldest: t.First, notFound: "the turn is no longer there",
		show: func() bool {
			id, ok := p.view.List.FindAnchor(transcriptview.AnchorName(t.ID, protocol.HitUser, ""))
			if ok {
				p.view.List.SelectItem(id)
				p.view.List.ScrollToItem(id)
			}
			return ok
		},
	})
}
