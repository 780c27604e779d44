package sessionview

import (
	"image/color"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// openWithTheme is open with a theme and the UTC time zone.
func openWithTheme(t *testing.T, theme ui.Theme, j *tuitest.Journal, width, height int) *testScreen {
	s := open(t, tuitest.NewJournal(), width, height)
	keys := s.m.Styles.Keys
	*s.m.Styles = *ui.NewStyles(time.UTC, theme)
	s.m.Styles.Keys, s.m.Styles.Now, s.m.Styles.GraphemeWidths = keys, func() time.Time { return s.now }, true
	s.m.Update(ui.RestyleMsg{})
	s.journal = j
	s.applyJournal()
	return s
}

var white, black = color.White, color.Black

func TestGoldenThemes(t *testing.T) {
	for _, theme := range ui.Themes() {
		t.Run("theme_"+string(theme), func(t *testing.T) {
			s := openWithTheme(t, theme, tuitest.Scenes["approval"](), 80, 24)
			s.update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
			if theme != ui.ThemeAuto { // its background stays unknown
				s.update(tea.BackgroundColorMsg{Color: black})
			}
			tuitest.Golden(t, strings.ReplaceAll(s.m.View().Content, "\x1b", "␛")+"\n")
		})
	}
}

func TestThemeFollowsBackground(t *testing.T) {
	s := openWithTheme(t, ui.ThemeAuto, tuitest.Scenes["prose"](), 80, 60)
	s.update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
	s.journal.Add(protocol.Notice, protocol.NoticeData{Level: protocol.LevelWarning, Message: "mind the gap"})
	s.journal.Text("open", "still **being** `said` and")
	s.applyJournal()
	if strings.Contains(s.m.View().Content, "\x1b[48") {
		t.Error("got grounds before the background is known")
	}
	light, dark := colorsOf(ui.ThemeLight), colorsOf(ui.ThemeDark)
	for _, c := range []struct {
		background color.Color
		want, not  []string
	}{{white, light, dark}, {black, dark, light}} {
		s.update(tea.BackgroundColorMsg{Color: c.background})
		got := s.m.View().Content
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%q is not on the screen over %v", want, c.background)
			}
		}
		for _, not := range c.not {
			if strings.Contains(got, not) {
				t.Errorf("%q is still on the screen over %v", not, c.background)
			}
		}
	}
	s.m.canvas.Dirty = false
	s.update(tea.BackgroundColorMsg{Color: black})
	if s.m.canvas.Dirty {
		t.Error("an unchanged background marks the view dirty")
	}
}

// colorsOf returns the SGR parameters of the colours of a theme: user, warning, metadata,
// code and heading.
func colorsOf(theme ui.Theme) []string {
	l := ui.NewStyles(time.UTC, theme)
	l.Update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
	var out []string
	for _, s := range []ui.Style{l.User, l.Warning, l.Dim} {
		out = append(out, sgr(s.GetForeground()))
	}
	for _, style := range []transcript.Style{transcript.Code, transcript.Heading} {
		var text transcript.StyledText
		text.Append("x", style)
		out = append(out, foreground.FindString(l.RenderLine(text.Lines(10)[0])))
	}
	return out
}

// foreground matches the SGR parameters of a 24-bit foreground colour.
var foreground = regexp.MustCompile(`38;2;[0-9;]+`)

// sgr returns the SGR parameters of a foreground colour.
func sgr(c color.Color) string {
	begin, _, _ := strings.Cut(lipgloss.NewStyle().Foreground(c).Render("x"), "x")
	return strings.TrimSuffix(strings.TrimPrefix(begin, "\x1b["), "m")
}

// What must be read is never faint: what a request runs, its questions and choices, errors, and who
// decided.
func TestWhatMustBeReadIsNotFaint(t *testing.T) {
	faint := colorsOf(ui.ThemeDark)[2]
	for scene, texts := range map[string][]string{
		"approval":        {"go mod tidy", "/home/ada/store", "The imports changed.", "Allow once", "waiting for a decision"},
		"refused command": {"tee -a /etc/hosts", "the sandbox workspace does not change /etc/hosts", "Deny and stop"},
		"question":        {"Which database?", "Postgres", "runs already", "SQLite", "What is it called?"},
		"decided":         {"go mod tidy", "denied · decided by bob", "not on a Friday"},
		"offline":         {"the token expired", "give a credential: --token or AGENTCTL_TOKEN"},
	} {
		s := openWithTheme(t, ui.ThemeDark, tuitest.Scenes[scene](), 100, 40)
		s.update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
		screen := s.m.View().Content
		for _, text := range texts {
			if !strings.Contains(ansi.Strip(screen), text) {
				t.Errorf("%s does not show %q:\n%s", scene, text, ansi.Strip(screen))
			}
		}
		var muted strings.Builder
		for _, span := range strings.Split(screen, "\x1b[") {
			if style, text, ok := strings.Cut(span, "m"); ok && strings.Contains(style, faint) {
				muted.WriteString(text + "\n")
			}
		}
		for _, text := range texts {
			if strings.Contains(muted.String(), text) {
				t.Errorf("%s: %q is faint", scene, text)
			}
		}
	}
}

func TestABlankRowIsAboveABlockOnAGround(t *testing.T) {
	for scene, block := range map[string]string{
		"queue": " queue · 2 messages", "offline": " no connection", "approval": "▎ approval",
		"refused command": " find:", // below the card
	} {
		s := openWithTheme(t, ui.ThemeDark, tuitest.Scenes[scene](), 100, 36)
		if block == " find:" {
			s.press("ctrl+f")
		}
		s.update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
		lines := strings.Split(ansi.Strip(s.m.View().Content), "\n")
		at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, block) })
		if at < 1 || strings.TrimSpace(lines[at-1]) != "" {
			t.Errorf("%s: got line %d of\n%s", scene, at, strings.Join(lines, "\n"))
		}
	}
}
