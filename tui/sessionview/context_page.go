package sessionview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
	"agentctl/tui/usage"
)

// View returns height lines; the last one shows the keys.
func (p *contextPage) View(width, height int) ([]string, *tea.Cursor) {
	l := p.styles
	state := p.usage.replica.state
	title := l.Bold.Render("context") + " · " + ui.OneLine(transcript.Clean(remote.SessionName(state)))
	if agent := describe.Agent(state.Agent); agent != "" {
		title += l.Dim.Render(" · " + agent)
	}
	out := slices.Concat([]string{l.Rule(title, width)}, p.now(width), p.used(width), p.turns(width), p.compacted(width))
	out = out[:min(len(out), max(height-1, 0))]
	for len(out) < height-1 {
		out = append(out, "")
	}
	return append(out, p.foot(width)), nil
}

func (p *contextPage) foot(width int) string {
	l := p.styles
	switch {
	case p.confirming:
		hint := l.Keys.Hint(keymap.Compact, "again: the agent keeps a summary and forgets the rest", keymap.Back, "back")
		return l.Warning.Render(ui.Fit(" "+hint, width))
	case p.usage.compaction.sending:
		return l.Warning.Render(ui.Fit(" compacting …", width))
	}
	return l.Selected.Render(ui.Spread(" "+l.Keys.Hint(keymap.Compact, "compacts"), l.Keys.Hint(keymap.Back, "back"), width))
}

// context returns the usage as events or the agent's answer tell it, or nil.
func (p *contextPage) context() *protocol.ContextInfo {
	known := p.usage.replica.state.Context
	if known == nil && p.answer != nil {
		known = &p.answer.Context
	}
	return known
}

// now returns the usage of this moment.
func (p *contextPage) now(width int) []string {
	l := p.styles
	c := p.context()
	if c == nil {
		return p.lines(cmp.Or(p.unknown, "…"), &l.Dim, width)
	}
	number := " " + ui.Percent(c.Percent)
	bar := usage.Bar(c.Percent/100, min(width-2-ansi.StringWidth(number), 60))
	out := []string{ui.Fit(" "+l.ContextStyle(c.Percent).Render(bar)+l.Bold.Render(number), width)}
	about := ui.Thousands(c.Tokens) + " tokens"
	if c.MaxTokens > 0 {
		about = ui.Thousands(c.Tokens) + " of " + ui.Thousands(c.MaxTokens) + " tokens"
	}
	if c.TranscriptLength > 0 {
		about += " · " + ui.Count(c.TranscriptLength, "message")
	}
	switch c.Strategy {
	case "":
	case "none":
		about += " · no automatic compaction"
	default:
		about += " · strategy " + c.Strategy
	}
	return append(out, p.lines(about, &l.Plain, width)...)
}

// used returns the tokens and the cost of the session as the agent reports them.
func (p *contextPage) used(width int) []string {
	l := p.styles
	var out []string
	if speed := p.usage.speed(""); strings.HasPrefix(speed, "≈") {
		out = p.lines("writes "+speed+" tokens a second, estimated from its text", &l.Success, width)
	} else if speed != "" {
		out = p.lines("writes "+speed+" tokens a second", &l.Success, width)
	}
	u := p.usage.replica.state.Usage
	if u == nil && p.answer != nil {
		u = p.answer.Usage
	}
	if u == nil {
		return out
	}
	used := "used " + ui.Thousands(u.Input) + " tokens in · " + ui.Thousands(u.Output) + " out"
	if u.Cached > 0 {
		used += " · " + ui.Thousands(u.Cached) + " cached"
	}
	if u.Reasoning > 0 {
		used += " · " + ui.Thousands(u.Reasoning) + " reasoning"
	}
	out = append(out, p.lines(used, &l.Plain, width)...)
	if u.Cost > 0 {
		cost := strings.TrimSpace(fmt.Sprintf("cost %.4g %s", u.Cost, u.Currency)) + ", reported by the agent"
		out = append(out, p.lines(cost, &l.Plain, width)...)
	}
	if u.Model != "" {
		out = append(out, p.lines("model "+u.Model, &l.Dim, width)...)
	}
	return out
}

// turns returns the usage at the end of each turn, as many as there is room for.
func (p *contextPage) turns(width int) []string {
	l := p.styles
	turns := p.usage.tracker.Turns()
	turns = turns[max(0, len(turns)-max(width-2, 0)):]
	var limit, peak int64
	values := make([]int64, len(turns))
	for i, t := range turns {
		values[i] = t.Tokens
		limit, peak = max(limit, t.MaxTokens), max(peak, t.Tokens)
	}
	if peak == 0 {
		return nil
	}
	limit = max(limit, peak)
	title := l.Bold.Render("by turn") + l.Dim.Render(" · "+ui.Count(len(turns), "turn")+
		fmt.Sprintf(" · peak %.0f%%", 100*float64(peak)/float64(limit)))
	style := l.ContextStyle(100 * float64(values[len(values)-1]) / float64(limit))
	return []string{"", l.Rule(title, width), ui.Fit(" "+style.Render(usage.Sparkline(values, limit)), width)}
}

// compacted returns the result of the compaction that the user asked for, or of the last one.
func (p *contextPage) compacted(width int) []string {
	l := p.styles
	switch c := p.usage.compaction; {
	case c.err != "":
		return append([]string{""}, p.lines(c.err, &l.Warning, width)...)
	case c.result != nil:
		return append([]string{""}, p.lines("✓ compacted: "+compactionText(c.result), &l.Success, width)...)
	}
	last := p.usage.tracker.LastCompaction()
	if last == nil {
		return nil
	}
	about := "last compaction: " + compactionText(last)
	if last.Automatic {
		about += ", automatic"
	}
	return append([]string{""}, p.lines(about, &l.Dim, width)...)
}

// lines wraps a text in a style.
func (p *contextPage) lines(s string, style *lipgloss.Style, width int) []string {
	var out []string
	for _, line := range ui.Wrap(ui.OneLine(transcript.Clean(s)), max(width-2, 1)) {
		out = append(out, ui.Fit(" "+style.Render(line), width))
	}
	return out
}
