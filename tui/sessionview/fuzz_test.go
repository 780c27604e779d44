package sessionview

import (
	"image/color"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"agentctl/internal/dev/thorough"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
)

func init() { thorough.Checks(40, 100) }

// checkStyles fails unless every escape sequence is a link or an SGR attribute that this program
// uses. Blink, conceal and frame are not used.
func checkStyles(t interface{ Fatalf(string, ...any) }, content string) {
	for rest := content; ; {
		at := strings.IndexByte(rest, 0x1b)
		if at < 0 {
			return
		}
		rest = rest[at:]
		if n, to := transcript.LinkSequence(rest); n > 0 {
			line, _, _ := strings.Cut(rest[n:], "\n")
			if to != "" && !strings.Contains(line, transcript.LinkEnd) {
				t.Fatalf("a link to %q does not end on its line", to)
			}
			rest = rest[n:]
			continue
		}
		n := len(sgrSequence.FindString(rest))
		if n == 0 {
			t.Fatalf("%.20q is not SGR", rest)
		}
		fields := strings.Split(rest[2:n-1], ";")
		for len(fields) > 0 {
			f := fields[0]
			fields = fields[1:]
			switch v, _ := strconv.Atoi(f); {
			case f == "" || strings.HasPrefix(f, "4:"), v <= 4, v == 7, v == 9,
				v >= 22 && v <= 29 && v != 25 && v != 26 && v != 28,
				v >= 30 && v <= 37, v >= 90 && v <= 97, v == 39, v == 49:
			case v == 38 || v == 48:
				if len(fields) >= 4 && fields[0] == "2" {
					fields = fields[4:]
				} else if len(fields) >= 2 && fields[0] == "5" {
					fields = fields[2:]
				} else {
					t.Fatalf("%.20q is an incomplete colour", rest)
				}
			default:
				t.Fatalf("%q in %.30q is not a style of this program", f, rest)
			}
		}
		rest = rest[n:]
	}
}

// FuzzToolOutput checks that the terminal receives only text and SGR of the theme for any tool
// output: collapsed, expanded and in the pager.
func FuzzToolOutput(f *testing.F) {
	for _, s := range []string{
		"\x1b[31;5;8mred\x1b[38;5;1;48;2;1;2;3mx\x1b[m", "10%\r20%\x1b[K\n\x1b[2A\x1b]8;;x\aa\x1b]8;;\a",
		"\x1b[58:2::1:2:3;21;53mx\x1bPq\x1b\\", "{\"a\":\"\x1b[8m\"}",
		"--- a\n+++ b\n@@ -1 +1 @@\n-\x1b[8mx\n+y\n", "\u009b31mx\u202e\xff\x1b[38;5",
		"diff --git a/x b/x\n@@ -1 +1 @@\n+a\n",
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, text string, read bool) {
		j := tuitest.NewJournal()
		j.UserMessage(tuitest.Ada, "m1", "go")
		d := protocol.ToolStartedData{Name: "shell", Title: "x.go"}
		if read {
			d.Kind = protocol.ToolRead
		}
		j.Tool("c1", d, text)
		j.CaughtUp()
		s := open(t, j, 70, 20)
		check := func() {
			content := s.m.View().Content
			checkStyles(t, content)
			bare := ansi.Strip(content)
			if strings.ContainsAny(bare, "\x1b\u202e\u009b\r\a\b") || !utf8.ValidString(bare) {
				t.Fatalf("control character on the screen: %q", bare)
			}
		}
		check()
		s.journal.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})
		s.applyJournal()
		for _, key := range []string{"tab", "enter", "d", "v", "d", "q"} {
			check()
			s.press(key)
		}
		check()
	})
}

// anyKey draws the name of a key.
var anyKey = rapid.SampledFrom([]string{
	"enter", "esc", "tab", "shift+tab", "up", "down", "left", "right", "pgup", "pgdown", "home", "ctrl+home",
	"ctrl+end", "f1", "f3", "f4", "f6", "f8", "space", "f5", "ctrl+g", "ctrl+p", "ctrl+n", "shift+up", "s", "p",
	"pgup", "ctrl+x", "ctrl+o", "ctrl+r", "alt+t", "ctrl+f", "/", ">", "<", "alt+enter", "1", "5", "r", "v", "e", "x",
	"K", "J", "h", "d", "k", "c", "y", "b", "[", "]", "t", "T", "a", "A", "E", "alt+up", "alt+down", "?", "漢",
})

func TestRandomEventsFitScreen(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := open(t, tuitest.NewJournal(), 60, 16)
		width, height := 60, 16
		rt.Repeat(map[string]func(*rapid.T){
			"event": func(rt *rapid.T) {
				for range rapid.IntRange(1, 5).Draw(rt, "events") {
					tuitest.DrawEvent(rt, s.journal)
				}
				s.applyJournal()
				s.journal.Seq = s.m.replica.State.Seq // rejected events leave no gap
			},
			"caught up": func(*rapid.T) {
				s.journal.CaughtUp()
				s.applyJournal()
			},
			"link": func(rt *rapid.T) {
				state := rapid.SampledFrom([]remote.ConnState{
					remote.Connecting, remote.Connected, remote.Closing, remote.Reconnecting, remote.Offline,
				}).Draw(rt, "link")
				s.journal.Conn(remote.Conn{State: state, Retry: s.now.Add(time.Second)})
				s.applyJournal()
			},
			"resume": func(rt *rapid.T) {
				s.now = s.now.Add(time.Minute)
				s.journal.Reconnect(protocol.ModeResume, uint64(rapid.IntRange(0, 2000).Draw(rt, "missed")))
				s.applyJournal()
			},
			"reset": func(*rapid.T) {
				s.journal.Pending = append(s.journal.Pending, remote.Update{Attached: &protocol.SubscribeResult{
					Mode:     protocol.ModeReset,
					After:    protocol.Position{Epoch: "e", Seq: 7},
					Snapshot: &protocol.Snapshot{Epoch: "e", State: &protocol.State{Seq: 7}},
				}})
				s.applyJournal()
				s.journal.Seq = 7
			},
			"key":   func(rt *rapid.T) { s.press(anyKey.Draw(rt, "key")) },
			"paste": func(*rapid.T) { s.update(tea.PasteMsg{Content: "a\nb\x1b[2J"}) },
			"background": func(rt *rapid.T) {
				s.update(tea.BackgroundColorMsg{
					Color: rapid.SampledFrom([]color.Color{white, black}).Draw(rt, "background"),
				})
			},
			"grace": func(*rapid.T) { s.waitGrace() },
			"size": func(rt *rapid.T) {
				width, height = rapid.IntRange(1, 90).Draw(rt, "width"), rapid.IntRange(1, 30).Draw(rt, "height")
				s.update(tea.WindowSizeMsg{Width: width, Height: height})
			},
			"": func(rt *rapid.T) {
				content := s.m.View().Content
				lines := strings.Split(content, "\n")
				if len(lines) > height {
					rt.Fatalf("got %d rows, want at most %d", len(lines), height)
				}
				for _, line := range lines {
					if ansi.StringWidth(line) > width {
						rt.Fatalf("got a line of %d cells, want at most %d: %q", ansi.StringWidth(line), width, line)
					}
				}
				checkStyles(rt, content)
				bare := ansi.Strip(content)
				if strings.ContainsAny(bare, "\x1b\u202e\u009b") || strings.Contains(content, "\x1b[2J") {
					rt.Fatalf("control sequence on the screen: %q", content)
				}
			},
		})
	})
}

// sgrSequence matches an SGR sequence at the start of a text.
var sgrSequence = regexp.MustCompile(`^\x1b\[[0-9;:]*m`)
