package tui

import (
	"fmt"
	"image/color"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/transcript"
)

// look is how things are dressed. All that is on a screen shares one, and what it
// dressed before it wore something else has to be drawn anew.
type look struct {
	zone     *time.Location
	wardrobe wardrobe
	palette  palette
	now      func() time.Time
	clusters bool    // the terminal counts the cells of what runes make together
	turned   bool    // diffs show the other way than their width has it
	keys     *keymap // as hints and help name them

	plain, bold, dim, user, agent, good, bad, warn, key, chosen lipgloss.Style

	styles map[transcript.Style][2]string // what begins and ends one, made when first needed
}

func newLook(zone *time.Location, theme Theme) *look {
	if theme == "" {
		theme = ThemeAuto
	}
	keys, _ := newKeymap(nil) // nothing chosen, nothing wrong
	l := &look{zone: zone, wardrobe: wardrobe{theme: theme}, keys: keys, now: time.Now}
	l.wear(l.wardrobe.palette())
	return l
}

func (l *look) wear(p palette) {
	plain := lipgloss.NewStyle()
	l.palette = p
	l.plain = plain
	l.bold = plain.Bold(true)
	l.dim = tint(plain, p.dim).Faint(p.faint)
	l.user = tint(l.bold, p.user)
	l.agent = tint(l.bold, p.agent)
	l.good = tint(plain, p.good)
	l.bad = tint(plain, p.bad)
	l.warn = tint(plain, p.warn)
	l.key = l.bold
	l.chosen = plain.Reverse(true)
	l.styles = map[transcript.Style][2]string{}
}

func tint(s lipgloss.Style, c color.Color) lipgloss.Style {
	if c == nil {
		return s
	}
	return s.Foreground(c)
}

// dress dresses the styles of a line.
func (l *look) dress(line string) string { return transcript.RenderStyles(line, l.prose) }

// prose dresses a stretch of text.
func (l *look) prose(text string, style transcript.Style) string {
	s, ok := l.styles[style]
	if !ok {
		const mark = "x"
		begin, end, _ := strings.Cut(l.palette.prose(style).Render(mark), mark)
		s = [2]string{begin, end}
		l.styles[style] = s
	}
	return s[0] + text + s[1]
}

func (l *look) clock(t time.Time) string { return t.In(l.zone).Format("15:04") }

func (l *look) date(t time.Time) string { return t.In(l.zone).Format("2006-01-02 15:04") }

// onlyDress is a line without control characters, but for sequences that only
// dress the text (SGR), and for links that are safe and end on the line.
func onlyDress(line string) string {
	var out []byte // once something is left out
	open := false  // a link is
	for i := 0; i < len(line); {
		n, keep := 1, true
		switch b := line[i]; {
		case b == 0x1b:
			n = dress(line[i:])
			if link, to := transcript.LinkSequence(line[i:]); link > 0 {
				n, open = link, to != ""
			}
			keep = n > 0
			n = max(n, 1)
		case b < 0x20 || b == 0x7f:
			keep = false
		case b == 0xc2 && i+1 < len(line) && line[i+1] < 0xa0: // C1
			n, keep = 2, false
		}
		if !keep && out == nil {
			out = append(make([]byte, 0, len(line)), line[:i]...)
		}
		if keep && out != nil {
			out = append(out, line[i:i+n]...)
		}
		i += n
	}
	end := ""
	if open {
		end = transcript.LinkEnd
	}
	if out == nil {
		return line + end
	}
	return string(out) + end
}

// dress is the length of the SGR sequence that s begins with, or 0.
func dress(s string) int {
	if len(s) < 3 || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch b := s[i]; {
		case b == 'm':
			return i + 1
		case b != ';' && b != ':' && (b < '0' || b > '9'):
			return 0
		}
	}
	return 0
}

// fit cuts a line to width cells, with an ellipsis when something is missing.
func fit(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if len(s) <= width {
		return s
	}
	return ansi.Truncate(s, width, "…")
}

// hints is as many of the keys of a hint as fit whole.
func hints(hint string, width int) string {
	for ansi.StringWidth(hint) > width {
		cut := strings.LastIndex(hint, between)
		if cut < 0 {
			return ""
		}
		hint = hint[:cut]
	}
	return hint
}

// spread puts left and right at the ends of a line; left gives way.
func spread(left, right string, width int) string {
	room := width - ansi.StringWidth(right)
	if room <= 0 {
		return fit(right, width)
	}
	left = fit(left, room-1)
	return left + strings.Repeat(" ", room-ansi.StringWidth(left)) + right
}

// rule is a line across the screen with a title in it.
func (l *look) rule(title string, width int) string {
	title = fit(title, width-4)
	n := width - 3 - ansi.StringWidth(title)
	if title == "" || n < 0 {
		return l.dim.Render(strings.Repeat("─", max(width, 0)))
	}
	return l.dim.Render("─ ") + title + l.dim.Render(" "+strings.Repeat("─", n))
}

// oneLine is text without line breaks, for a title or a row.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

// glimpsed is how much of a text is looked at for one line of it.
const glimpsed = 2 << 10

// glimpse is the beginning of any text in one line: what it costs does not depend
// on how long the text is.
func glimpse(s string) string {
	if len(s) > glimpsed {
		s = s[:glimpsed]
	}
	return oneLine(transcript.Clean(s))
}

// took is a duration for people: 340ms, 12s, 3m05s, 2h10m.
func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		d = d.Round(time.Second)
		if d < time.Minute {
			return d.String()
		}
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
