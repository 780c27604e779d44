package ui

import (
	"image/color"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/diff"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/usage"
)

// Styles holds the styles, keys for hints, clock and time zone of a program. All components share
// one. Components that cache styled lines must restyle them when Update reports a change.
type Styles struct {
	Tokens
	Keys           *keymap.Map
	Zone           *time.Location
	Now            func() time.Time
	GraphemeWidths bool // the terminal measures grapheme clusters, not runes

	colors      terminalColors
	palette     palette
	otherLayout bool                           // the layout of diffs is the opposite of the default for the width
	spans       map[transcript.Style][2]string // start and end sequences, cached
}

// Tokens are the styles by meaning.
type Tokens struct {
	Plain, Bold, Dim        lipgloss.Style
	User, Agent             lipgloss.Style
	Success, Error, Warning lipgloss.Style
	KeyName, Selected       lipgloss.Style
}

// NewStyles returns the styles of a theme with the default keys. "" is ThemeAuto.
func NewStyles(zone *time.Location, theme Theme) *Styles {
	if theme == "" {
		theme = ThemeAuto
	}
	keys, _ := keymap.New(nil) // the default keys are valid
	l := &Styles{Zone: zone, colors: terminalColors{theme: theme}, Keys: keys, Now: time.Now}
	l.setPalette(l.colors.palette())
	return l
}

func (l *Styles) setPalette(p palette) {
	plain := lipgloss.NewStyle()
	l.palette = p
	l.Plain = plain
	l.Bold = plain.Bold(true)
	l.Dim = tint(plain, p.dim).Faint(p.faint)
	l.User = tint(l.Bold, p.user)
	l.Agent = tint(l.Bold, p.agent)
	l.Success = tint(plain, p.good)
	l.Error = tint(plain, p.bad)
	l.Warning = tint(plain, p.warn)
	l.KeyName = l.Bold
	l.Selected = plain.Reverse(true)
	l.spans = map[transcript.Style][2]string{}
}

func tint(s lipgloss.Style, c color.Color) lipgloss.Style {
	if c == nil {
		return s
	}
	return s.Foreground(c)
}

// RenderLine renders the styled spans of a line.
func (l *Styles) RenderLine(line string) string { return transcript.RenderStyles(line, l.renderSpan) }

// renderSpan renders text in a style.
func (l *Styles) renderSpan(text string, style transcript.Style) string {
	s, ok := l.spans[style]
	if !ok {
		const mark = "x"
		begin, end, _ := strings.Cut(l.palette.span(style).Render(mark), mark)
		s = [2]string{begin, end}
		l.spans[style] = s
	}
	return s[0] + text + s[1]
}

// Clock formats a time of day.
func (l *Styles) Clock(t time.Time) string { return t.In(l.Zone).Format("15:04") }

// Date formats a date and time of day.
func (l *Styles) Date(t time.Time) string { return t.In(l.Zone).Format("2006-01-02 15:04") }

// Rule returns a horizontal line of width cells with a title in it.
func (l *Styles) Rule(title string, width int) string {
	title = Fit(title, width-4)
	n := width - 3 - ansi.StringWidth(title)
	if title == "" || n < 0 {
		return l.Dim.Render(strings.Repeat("─", max(width, 0)))
	}
	return l.Dim.Render("─ ") + title + l.Dim.Render(" "+strings.Repeat("─", n))
}

// SideBySide reports whether diffs are laid out side by side at a width.
func (l *Styles) SideBySide(width int) bool {
	if l.otherLayout {
		return width < diff.SideBySideWidth
	}
	return width >= diff.SideBySideWidth
}

// ToggleDiffLayout switches diffs between side by side and one column.
func (l *Styles) ToggleDiffLayout() { l.otherLayout = !l.otherLayout }

// Since returns the time since at in whole seconds. It is never negative, as clocks may differ.
func (l *Styles) Since(at time.Time) time.Duration {
	return max(0, l.Now().Sub(at)).Truncate(time.Second)
}

// ContextBar returns context usage as a bar of width cells and a percentage.
func (l *Styles) ContextBar(percent float64, width int) string {
	return usage.Bar(percent/100, width) + " " + Percent(percent)
}

// Percentages of context usage from which ContextStyle is a warning or an error.
const (
	ContextWarning = 75
	ContextError   = 90
)

// ContextStyle returns the style of context usage.
func (l *Styles) ContextStyle(percent float64) *lipgloss.Style {
	switch {
	case percent >= ContextError:
		return &l.Error
	case percent >= ContextWarning:
		return &l.Warning
	}
	return &l.Success
}

// Highlight marks the matches of a query on a line.
func (l *Styles) Highlight(line string, query *protocol.Query) string {
	bare := ansi.Strip(line)
	var ranges []lipgloss.Range
	for _, s := range query.Spans(bare) {
		from, to := ansi.StringWidth(bare[:s.From]), ansi.StringWidth(bare[:s.To])
		if from < to { // a match inside a grapheme cluster is empty
			ranges = append(ranges, lipgloss.NewRange(from, to, l.Selected))
		}
	}
	if len(ranges) == 0 {
		return line
	}
	marked := lipgloss.StyleRanges(line, ranges...)
	if ansi.Strip(marked) != bare { // lipgloss misplaces a combining mark that takes a cell
		return line
	}
	return marked
}
