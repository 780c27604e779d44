package contextview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// page is an overlay that shows the context usage.
type page struct {
	usage      *usage
	answer     *protocol.ContextResult // what takes the room; the usage if no event reported it
	unknown    string                  // why there is no answer
	confirming bool                    // the next press of the compact key starts a compaction
}

// open opens the page and asks the agent for what the events do not report.
func (u *usage) open(string) panel.Result {
	p, answer := &page{usage: u}, new(protocol.ContextResult)
	ask := u.Commands.Send(protocol.DoContext, protocol.Empty{}, answer, func(err error) tea.Cmd {
		switch {
		case err == nil:
			p.answer = answer
		case protocol.CodeOf(err) == protocol.CodeUnsupported:
			p.unknown = "This agent does not report its context usage."
		default:
			p.unknown = remote.ErrorText(err)
		}
		return nil
	})
	return panel.Result{Push: p, Cmd: ask}
}

// Actions returns the actions that open the page.
func Actions(b panel.Base) panel.Actions {
	open := panel.Action{Run: (&usage{Base: b}).open}
	return panel.Actions{keymap.ShowContext: open, keymap.Compact: open}
}

// Scope implements [ui.Overlay].
func (p *page) Scope() keymap.Scope { return keymap.Context }

// FullScreen implements [ui.Overlay].
func (p *page) FullScreen() bool { return true }

// Update implements [ui.Overlay].
func (p *page) Update(msg tea.Msg) ui.Response {
	press, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return ui.Response{}
	}
	keys, key := p.usage.Styles.Keys, press.String()
	confirmed := p.confirming
	p.confirming = false
	switch keys.InList(keymap.Context, key) {
	case keymap.Back:
		return ui.Response{Close: !confirmed}
	case keymap.Remove:
		switch {
		case p.usage.compaction.sending:
		case confirmed:
			return ui.Response{Cmd: p.usage.compact()}
		default:
			p.confirming = true
		}
		return ui.Response{}
	}
	return ui.Response{Close: keys.At(keymap.Global, key) == keymap.ShowContext}
}

// View implements [ui.Overlay]. The last line shows the keys.
func (p *page) View(width, height int) ([]string, *tea.Cursor) {
	styles := p.usage.Styles
	state := p.usage.Replica.State
	title := styles.Bold.Render("context") + " · " + transcript.CleanLine(remote.SessionName(state))
	if agent := describe.Agent(state.Agent); agent != "" {
		title += styles.Dim.Render(" · " + agent)
	}
	body := slices.Concat(p.currentLines(width), p.usageLines(width), p.compactionLines(width))
	return styles.Page(title, body, p.footer(width), width, height), nil
}

// footer returns the last line: a question, the progress or the keys.
func (p *page) footer(width int) string {
	styles := p.usage.Styles
	switch {
	case p.confirming:
		hint := styles.Keys.Hint(
			keymap.Remove, "again: the agent keeps a summary and forgets the rest", keymap.Back, "back")
		return styles.Warning.Render(ui.Fit(" "+hint, width))
	case p.usage.compaction.sending:
		return styles.Warning.Render(ui.Fit(" compacting …", width))
	}
	return styles.HintRow(styles.Keys.Hint(keymap.Remove, "compact"), styles.Keys.Hint(keymap.Back, "back"), width)
}

// info returns the context usage from the events, or else from the agent's answer. It may be nil.
func (p *page) info() *protocol.ContextInfo {
	info := p.usage.Replica.State.Context
	if info == nil && p.answer != nil {
		info = &p.answer.Context
	}
	return info
}

// currentLines returns the current usage, and what takes the room as far as the agent reports it.
func (p *page) currentLines(width int) []string {
	styles := p.usage.Styles
	c := p.info()
	if c == nil {
		return p.wrap(cmp.Or(p.unknown, "…"), &styles.Plain, width)
	}
	var out []string
	if percent, ok := describe.ContextPercent(c); ok {
		number := " " + format.Percent(percent)
		bar := ui.Bar(percent/100, min(width-2-transcript.Width(number), 60))
		out = []string{ui.Fit(" "+styles.ContextStyle(percent).Render(bar)+styles.Bold.Render(number), width)}
	}
	about := describe.Context(c, format.Thousands)
	switch c.Strategy {
	case "":
	case "none":
		about = append(about, "no automatic compaction")
	default:
		about = append(about, "strategy "+c.Strategy)
	}
	out = append(out, p.wrap(strings.Join(about, " · "), &styles.Plain, width)...)
	if p.answer == nil || len(p.answer.Parts) == 0 {
		return out
	}
	var parts []string
	for _, x := range p.answer.Parts {
		parts = append(parts, x.Name+" ≈"+format.Thousands(x.Tokens))
	}
	return append(out, p.wrap(strings.Join(parts, " · "), &styles.Dim, width)...)
}

// usageLines returns the tokens and the cost of the session as the agent reports them.
func (p *page) usageLines(width int) []string {
	styles := p.usage.Styles
	var out []string
	for i := range p.usage.Replica.State.Limits {
		w := &p.usage.Replica.State.Limits[i]
		out = append(out, p.wrap(describe.Window(w, styles.ShortDate), styles.ContextStyle(w.Percent), width)...)
	}
	u := p.usage.Replica.State.Usage
	if u == nil && p.answer != nil {
		u = p.answer.Usage
	}
	if u == nil {
		return out
	}
	if used := describe.Usage(u, format.Thousands); len(used) > 0 {
		out = append(out, p.wrap("used "+strings.Join(used, " · "), &styles.Plain, width)...)
	}
	if u.Cost > 0 {
		cost := strings.TrimSpace(fmt.Sprintf("cost %.4g %s", u.Cost, u.Currency)) + ", reported by the agent"
		out = append(out, p.wrap(cost, &styles.Plain, width)...)
	}
	if u.Model != "" {
		out = append(out, p.wrap("model "+u.Model, &styles.Dim, width)...)
	}
	return out
}

// compactionLines returns the result of the compaction that the user started last.
func (p *page) compactionLines(width int) []string {
	styles := p.usage.Styles
	switch c := p.usage.compaction; {
	case c.err != "":
		return append([]string{""}, p.wrap(c.err, &styles.Warning, width)...)
	case c.result != nil:
		effect := ui.Prefixed(": ", describe.Compaction(c.result, format.Thousands))
		return append([]string{""}, p.wrap("✓ compacted"+effect, &styles.Success, width)...)
	}
	return nil
}

// wrap wraps and styles a text, indented by one cell.
func (p *page) wrap(s string, style *ui.Style, width int) []string {
	var out []string
	for _, line := range ui.Wrap(transcript.CleanLine(s), max(width-2, 1)) {
		out = append(out, ui.Fit(" "+style.Render(line), width))
	}
	return out
}
