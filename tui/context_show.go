package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/usage"
)

// Of a context that is as full as that, in percent, the number shows in other
// colours.
const (
	gettingFull = 75
	full        = 90
)

// info is how full the context is, or nil.
func (m *model) info() *protocol.ContextInfo {
	known := m.state.Context
	if known == nil && m.context != nil && m.context.told != nil {
		known = &m.context.told.Context
	}
	return known
}

// filling is how the number of a context dresses.
func (l *look) filling(percent float64) *lipgloss.Style {
	switch {
	case percent >= full:
		return &l.bad
	case percent >= gettingFull:
		return &l.warn
	}
	return &l.good
}

// fullness is the context in the status line: a gauge where there is room, and
// how fast the agent writes.
func (m *model) fullness() []string {
	var out []string
	if c := m.info(); c != nil && c.MaxTokens > 0 {
		s := "context " + percentText(c.Percent)
		if m.width >= 80 {
			s = m.look.gauge(c.Percent, 6)
		}
		style := &m.look.dim
		if c.Percent >= gettingFull {
			style = m.look.filling(c.Percent)
		}
		out = append(out, style.Render(s))
	}
	if speed := m.speed(" tok/s"); speed != "" && m.width >= 80 {
		out = append(out, m.look.dim.Render(speed))
	}
	return out
}

// speed is how fast the agent writes, or "".
func (m *model) speed(unit string) string {
	per, estimated, ok := m.meter.TokenRate(m.now())
	switch {
	case !ok || m.state.Turn == nil:
		return ""
	case estimated:
		return fmt.Sprintf("≈%.0f", per) + unit
	}
	return fmt.Sprintf("%.0f", per) + unit
}

// Render is height lines.
func (p *contextPage) Render(m *model, width, height int) []string {
	l := m.look
	title := l.bold.Render("context") + " · " + oneLine(transcript.Clean(nameOr(m.state)))
	if agent := agentOf(m.state.Agent); agent != "" {
		title += l.dim.Render(" · " + agent)
	}
	out := slices.Concat([]string{l.rule(title, width)}, p.now(m, width), p.spent(m, width), p.turns(m, width), p.compacted(m, width))
	out = out[:min(len(out), max(height-1, 0))]
	for len(out) < height-1 {
		out = append(out, "")
	}
	foot := l.chosen.Render(spread(" "+l.keys.hint(doCompact, "makes it smaller"), l.keys.hint(doBack, "back"), width))
	switch {
	case p.asking:
		foot = l.warn.Render(fit(" "+l.keys.hint(doCompact, "again: the agent keeps a summary and forgets the rest", doBack, "back"), width))
	case m.compaction.sending:
		foot = l.warn.Render(fit(" compacting …", width))
	}
	return append(out, foot)
}

// now is how full it is.
func (p *contextPage) now(m *model, width int) []string {
	l := m.look
	c := m.info()
	if c == nil {
		return p.words(cmp.Or(p.none, "…"), &l.dim, width)
	}
	number := " " + percentText(c.Percent)
	bar := usage.Bar(c.Percent/100, min(width-2-ansi.StringWidth(number), 60))
	out := []string{fit(" "+l.filling(c.Percent).Render(bar)+l.bold.Render(number), width)}
	about := thousands(c.Tokens) + " tokens"
	if c.MaxTokens > 0 {
		about = thousands(c.Tokens) + " of " + thousands(c.MaxTokens) + " tokens"
	}
	if c.TranscriptLength > 0 {
		about += " · " + count(c.TranscriptLength, "message")
	}
	if c.Strategy != "" {
		about += " · strategy " + c.Strategy
	}
	return append(out, p.words(about, &l.plain, width)...)
}

// spent is what the session has used, and what that cost by the agent's account.
func (p *contextPage) spent(m *model, width int) []string {
	l := m.look
	var out []string
	if speed := m.speed(""); strings.HasPrefix(speed, "≈") {
		out = p.words("writes "+speed+" tokens a second, estimated from its text", &l.good, width)
	} else if speed != "" {
		out = p.words("writes "+speed+" tokens a second", &l.good, width)
	}
	u := m.state.Usage
	if u == nil && p.told != nil {
		u = p.told.Usage
	}
	if u == nil {
		return out
	}
	used := "used " + thousands(u.Input) + " in · " + thousands(u.Output) + " out"
	if u.Cached > 0 {
		used += " · " + thousands(u.Cached) + " cached"
	}
	if u.Reasoning > 0 {
		used += " · " + thousands(u.Reasoning) + " reasoning"
	}
	out = append(out, p.words(used, &l.plain, width)...)
	if u.Cost > 0 {
		out = append(out, p.words(strings.TrimSpace(fmt.Sprintf("cost %.4g %s", u.Cost, u.Currency))+", as the agent tells", &l.plain, width)...)
	}
	if u.Model != "" {
		out = append(out, p.words("model "+u.Model, &l.dim, width)...)
	}
	return out
}

// turns is how full it was at the end of each turn, as many as there is room for.
func (p *contextPage) turns(m *model, width int) []string {
	l := m.look
	turns := m.meter.Turns()
	turns = turns[max(0, len(turns)-max(width-2, 0)):]
	var most, highest int64
	values := make([]int64, len(turns))
	for i, t := range turns {
		values[i] = t.Tokens
		most, highest = max(most, t.MaxTokens), max(highest, t.Tokens)
	}
	if highest == 0 {
		return nil
	}
	most = max(most, highest)
	return []string{
		"", l.rule(l.bold.Render("by turn")+l.dim.Render(" · "+count(len(turns), "turn")+fmt.Sprintf(" · at most %.0f%%", 100*float64(highest)/float64(most))), width),
		fit(" "+l.filling(100*float64(values[len(values)-1])/float64(most)).Render(usage.Sparkline(values, most)), width),
	}
}

// compacted is what came of the compaction that was wanted, or of the last one.
func (p *contextPage) compacted(m *model, width int) []string {
	l := m.look
	switch c := m.compaction; {
	case c.err != "":
		return append([]string{""}, p.words(c.err, &l.warn, width)...)
	case c.did != nil:
		return append([]string{""}, p.words("✓ compacted: "+less(c.did), &l.good, width)...)
	}
	last := m.meter.LastCompaction()
	if last == nil {
		return nil
	}
	about := "last compaction: " + less(last)
	if last.Automatic {
		about += ", by the agent itself"
	}
	return append([]string{""}, p.words(about, &l.dim, width)...)
}

// words are lines that say something.
func (p *contextPage) words(s string, style *lipgloss.Style, width int) []string {
	var out []string
	for _, line := range wrap(oneLine(transcript.Clean(s)), max(width-2, 1)) {
		out = append(out, fit(" "+style.Render(line), width))
	}
	return out
}
