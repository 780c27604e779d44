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
	"agentctl/tui/thumbnail"
	"agentctl/tui/transcript"
)

// Styles holds the styles, keys for hints, clock and time zone of a program, and draws its images.
// All components share one. Components that cache styled lines must restyle them when Update
// reports a change.
type Styles struct {
	Tokens
	Keys           *keymap.Map
	Zone           *time.Location
	Now            func() time.Time
	GraphemeWidths bool // the terminal measures grapheme clusters, not runes
	Images         *thumbnail.Display

	colors         terminalColors
	palette        palette
	swapDiffLayout bool                       // use the layout that is not the default of the width
	spans          map[transcript.Style]Style // cached
	ground         Style                      // of blocks
}

// Tokens are the styles by meaning.
type Tokens struct {
	Plain, Bold, Dim            Style
	User, Agent, Accent, Border Style
	Success, Error, Warning     Style
	Selected, Match             Style
}

// NewStyles returns the styles of a theme with the default keys. "" is ThemeAuto.
func NewStyles(zone *time.Location, theme Theme) *Styles {
	if theme == "" {
		theme = ThemeAuto
	}
	keys, _ := keymap.New(nil) // the default keys are valid
	s := &Styles{Zone: zone, colors: terminalColors{theme: theme}, Keys: keys, Now: time.Now}
	s.Images = thumbnail.NewDisplay(false)
	s.setPalette(s.colors.palette())
	return s
}

// setPalette derives all styles from p.
func (s *Styles) setPalette(p palette) {
	plain := lipgloss.NewStyle()
	bold, state := plain.Bold(true), plain.Bold(p.bold)
	selected, match := plain.Reverse(true), plain.Reverse(true)
	if p.element != nil {
		selected, match = bold.Foreground(p.text).Background(p.element), p.inverseStyle(plain, p.accent)
	}
	s.Tokens = Tokens{
		Plain: NewStyle(plain), Bold: NewStyle(bold), Dim: NewStyle(tint(plain, p.muted)),
		User: NewStyle(tint(bold, p.accent)), Agent: NewStyle(bold),
		Accent: NewStyle(tint(plain, p.accent)), Border: NewStyle(tint(plain, p.border).Faint(p.faint)),
		Success: NewStyle(tint(state, p.success)), Error: NewStyle(tint(state, p.failure)),
		Warning: NewStyle(tint(state, p.warning)), Selected: NewStyle(selected), Match: NewStyle(match),
	}
	s.palette, s.spans = p, map[transcript.Style]Style{}
	s.ground = NewStyle(tint(plain, p.text).Background(p.block))
}

// tint returns s with the foreground c. nil leaves s unchanged.
func tint(s lipgloss.Style, c color.Color) lipgloss.Style {
	if c == nil {
		return s
	}
	return s.Foreground(c)
}

// RenderLine renders the styled spans of a line.
func (s *Styles) RenderLine(line string) string { return transcript.RenderStyles(line, s.renderSpan) }

// renderSpan renders text in a style.
func (s *Styles) renderSpan(text string, style transcript.Style) string {
	span, ok := s.spans[style]
	if !ok {
		span = NewStyle(s.palette.spanStyle(style))
		s.spans[style] = span
	}
	return span.begin + text + span.end
}

// Clock formats a time of day.
func (s *Styles) Clock(t time.Time) string { return t.In(s.Zone).Format("15:04") }

// Date formats a date and time of day.
func (s *Styles) Date(t time.Time) string { return t.In(s.Zone).Format("2006-01-02 15:04") }

// ShortDate formats a time of the present day as Clock does, and another one with its day.
func (s *Styles) ShortDate(t time.Time) string {
	if s.Now().In(s.Zone).YearDay() == t.In(s.Zone).YearDay() && t.Sub(s.Now()).Abs() < 24*time.Hour {
		return s.Clock(t)
	}
	return t.In(s.Zone).Format("2 Jan 15:04")
}

// Rule returns a horizontal line of width cells with a title in it. If the theme has grounds, it is the
// title on a ground, and a blank row without a title.
func (s *Styles) Rule(title string, width int) string {
	switch {
	case s.Grounds() && title == "":
		return ""
	case s.Grounds():
		return s.onGround(Pad(" "+title, max(width, 0)))
	}
	title = Fit(title, width-4)
	rest := width - 3 - transcript.Width(title)
	if title == "" || rest < 0 {
		return s.Border.Render(strings.Repeat("─", max(width, 0)))
	}
	return s.Border.Render("─ ") + title + s.Border.Render(" "+strings.Repeat("─", rest))
}

// Grounds reports whether the theme has grounds, which stand in place of rules.
func (s *Styles) Grounds() bool { return s.palette.block != nil }

// Ground puts lines on the ground of blocks, if the theme has grounds.
func (s *Styles) Ground(lines []string, width int) []string {
	if !s.Grounds() {
		return lines
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = s.onGround(Pad(line, width))
	}
	return out
}

// onGround puts a styled line on the ground of blocks.
func (s *Styles) onGround(line string) string {
	const reset = "\x1b[m"
	return s.ground.Render(strings.ReplaceAll(line, reset, reset+s.ground.begin))
}

// SideBySide reports whether diffs are laid out side by side at a width.
func (s *Styles) SideBySide(width int) bool {
	if s.swapDiffLayout {
		return width < diff.SideBySideWidth
	}
	return width >= diff.SideBySideWidth
}

// ToggleDiffLayout switches diffs between side by side and one column.
func (s *Styles) ToggleDiffLayout() { s.swapDiffLayout = !s.swapDiffLayout }

// Since returns the time since at in whole seconds. It is never negative, as clocks may differ.
func (s *Styles) Since(at time.Time) time.Duration {
	return max(0, s.Now().Sub(at)).Truncate(time.Second)
}

// Percentages of context usage from which ContextStyle is a warning or an error.
const (
	ContextWarning = 70
	ContextError   = 90
)

// ContextStyle returns the style of context usage: no colour below ContextWarning.
func (s *Styles) ContextStyle(percent float64) *Style {
	switch {
	case percent >= ContextError:
		return &s.Error
	case percent >= ContextWarning:
		return &s.Warning
	}
	return &s.Dim
}

// Highlight marks the matches of a query on a line.
func (s *Styles) Highlight(line string, query *protocol.Query) string {
	plain := ansi.Strip(line)
	var ranges []lipgloss.Range
	for _, match := range query.Spans(plain) {
		from, to := transcript.Width(plain[:match.From]), transcript.Width(plain[:match.To])
		if from < to { // a match inside a grapheme cluster is empty
			ranges = append(ranges, lipgloss.NewRange(from, to, *s.Match.Style))
		}
	}
	if len(ranges) == 0 {
		return line
	}
	marked := lipgloss.StyleRanges(line, ranges...)
	if ansi.Strip(marked) != plain { // lipgloss misplaces a combining mark that takes a cell
		return line
	}
	return marked
}
