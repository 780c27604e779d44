package pane

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/turns"
	"agentctl/tui/ui"
)

// turnsPage is an overlay with the turns of the session, filtered by the words typed.
type turnsPage struct {
	*ui.Picker[*turns.Turn]
	base    *panel.Base
	turns   *turns.Turns
	loading bool
	closed  bool
	failed  string // why older turns are not loaded
}

// OpenTurns opens the list of turns and requests older turns.
func (p *Pane) OpenTurns() panel.Result {
	o, keys := &turnsPage{base: &p.Base, turns: p.View.Turns}, p.Styles.Keys
	o.Picker = ui.NewPicker(p.Styles, ui.List[*turns.Turn]{
		Title: func(_, rows, _ int) string { return o.title(rows) },
		Rows:  func(text string) []*turns.Turn { return o.turns.Matching(text) },
		ID:    func(t *turns.Turn) string { return t.ID },
		Draw:  func(t *turns.Turn, selected bool, width int) []string { return []string{o.row(t, width, selected)} },
		Choose: func(t *turns.Turn) ui.Response {
			return ui.Response{Close: true, Intent: panel.Result{Focus: true, Cmd: p.history.jumpToTurn(t.First)}}
		},
		Empty: func(text string) string {
			if text != "" {
				return " no turn matches"
			}
			return " no turns yet"
		},
		Hint: func() string { return keys.Hint(keymap.Choose, "go to turn", keymap.Up, "up", keymap.Down, "down") },
		Press: func(key string) (ui.Response, bool) {
			closes := keys.At(keymap.Global, key) == keymap.ShowOutline
			return ui.Response{Close: closes}, closes
		},
		Label: " filter: ", Upwards: true,
	})
	return panel.Result{Push: o, Cmd: o.requestOlder()}
}

// Update implements [ui.Overlay].
func (o *turnsPage) Update(msg tea.Msg) ui.Response {
	r := o.Picker.Update(msg)
	o.closed = o.closed || r.Close
	r.Cmd = tea.Batch(r.Cmd, o.requestOlder())
	return r
}

// requestOlder requests older turns while the list has room for them: near its top, or if few turns
// match the filter.
func (o *turnsPage) requestOlder() tea.Cmd {
	before := o.turns.OlderThan()
	if before == 0 || o.loading || o.closed || !o.base.Replica.Connected() || o.Index() > o.Page() {
		return nil
	}
	o.loading = true
	epoch, page := o.base.Replica.Epoch, new(protocol.HistoryResult)
	data := protocol.HistoryData{Before: before, Limit: transcriptview.MaxPage}
	return o.base.Commands.Send(protocol.DoHistory, data, page, func(err error) tea.Cmd {
		o.loading = false
		switch {
		case o.base.Replica.Epoch != epoch || page.Epoch != "" && page.Epoch != epoch:
			return o.requestOlder()
		case err == nil && o.turns.OlderThan() == before:
			err = o.turns.PrependPage(page)
		}
		if err != nil {
			o.turns.StopPaging()
			o.failed = remote.ErrorText(err)
		}
		return o.requestOlder()
	})
}

// title returns how many turns match, and whether all of them are known.
func (o *turnsPage) title(matches int) string {
	all := len(o.turns.Matching(""))
	title := "turns · " + fmt.Sprint(matches)
	if o.Text() != "" {
		title += fmt.Sprintf(" of %d", all)
	}
	switch {
	case o.failed != "":
		title += " · older turns not available: " + transcript.CleanLine(o.failed)
	case o.turns.OlderThan() == 0:
	case o.loading:
		title += " · loading older turns …"
	case !o.base.Replica.Connected():
		title += " · older turns need a connection"
	default:
		title += " · older turns above"
	}
	return title
}

// row returns the line of a turn: its time and message, and details as far as they fit.
func (o *turnsPage) row(t *turns.Turn, width int, selected bool) string {
	s := o.base.Styles
	text := ui.Excerpt(t.Prompt)
	if text == "" {
		text = "(no text)"
	}
	left := "   " + s.Clock(t.Started) + "  " + text
	details := o.details(t)
	right := strings.Join(details, " · ")
	for len(details) > 1 && transcript.Width(right) > width/2 {
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
func (o *turnsPage) details(t *turns.Turn) []string {
	state := o.base.Replica.State
	var out []string
	switch {
	case t.End != nil:
		out = append(out, transcript.CleanLine(describe.Reason(t.End.Reason)))
		if t.End.DurationMS > 0 {
			out = append(out, describe.Took(t.Took()))
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
		currency := transcript.CleanLine(t.End.Usage.Currency)
		out = append(out, strings.TrimSpace(fmt.Sprintf("%.2f %s", t.End.Usage.Cost, currency)))
	}
	return out
}
