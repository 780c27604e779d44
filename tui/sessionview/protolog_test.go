package sessionview

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/tuitest"
	"agentctl/tui/logview"
)

// look reads all that the log holds onto the screen, without waiting for more.
func (s *screen) look() {
	s.t.Helper()
	cmd := s.m.Update(tuitest.KeyPress("f7"))
	if _, ok := s.m.overlays.Top().(*logview.View); !ok {
		s.t.Fatal("the protocol log is not open")
	}
	s.m.Update(tuitest.FirstMessage(cmd))
}

func openWired(t *testing.T, width, height int) *screen {
	s := open(t, tuitest.Scenes["transcript"](), width, height)
	s.m.Session = tuitest.LoggedSession{FakeSession: s.session, Log: tuitest.SampleLog()}
	s.look()
	return s
}

func TestGoldenWire(t *testing.T) {
	for _, size := range []struct{ width, height int }{{40, 16}, {80, 16}, {200, 20}} {
		for name, keys := range map[string][]string{"wire": nil, "wire_sent": {"d", "up"}, "wire_words": {"/", "s", "e", "n", "d"}, "wire_frame": {"up", "up", "up", "enter"}} {
			t.Run(fmt.Sprintf("%s_%d", name, size.width), func(t *testing.T) {
				s := openWired(t, size.width, size.height)
				s.press(keys...)
				got := s.text()
				for line := range strings.Lines(got) {
					if n := ansi.StringWidth(strings.TrimSuffix(line, "\n")); n > size.width {
						t.Errorf("%d cells: %q", n, line)
					}
				}
				tuitest.Golden(t, got)
			})
		}
	}
}

func TestTheWireFitsEverySize(t *testing.T) {
	for width := 1; width < 130; width += 7 {
		for _, height := range []int{1, 2, 3, 12} {
			s := openWired(t, width, height)
			for _, keys := range [][]string{nil, {"up"}, {"enter"}, {"esc"}, {"/", "x"}, {"esc"}, {"t"}, {"home"}, {"pgup"}, {"pgdown"}, {"end"}} {
				s.press(keys...)
				lines := strings.Split(s.m.View().Content, "\n")
				if len(lines) > height {
					t.Fatalf("%d rows at %dx%d", len(lines), width, height)
				}
				for _, line := range lines {
					if ansi.StringWidth(line) > width {
						t.Fatalf("%q at %dx%d", line, width, height)
					}
				}
			}
		}
	}
}

func TestNoCredentialShowsOnTheWire(t *testing.T) {
	s := openWired(t, 200, 30)
	if strings.Contains(s.text(), "the-token") {
		t.Errorf("the screen shows it:\n%s", s.text())
	}
	s.press("up", "enter")
	s.shows(`"token": "‹hidden›"`)
	s.press("q", "y")
	s.shows("copied")
	t.Chdir(t.TempDir())
	s.press("w")
	s.shows("9 frames saved to agentctl-protocol-log-20260304-094200.jsonl")
	file, err := os.ReadFile("agentctl-protocol-log-20260304-094200.jsonl")
	if err != nil || strings.Contains(string(file), "the-token") || strings.Count(string(file), "\n") != 9 {
		t.Errorf("%v\n%s", err, file)
	}
	s.press("w")
	s.shows("file exists")
}

func TestTheWireIsFilteredByTypeAndLeft(t *testing.T) {
	s := openWired(t, 100, 20)
	s.press("up", "t")
	s.shows("3 shown: approve")
	s.press("t", "/", "o", "n", " ", "i", "t", "enter")
	s.shows(`1 shown: "on it"`)
	s.press("esc")
	s.shows("10 messages · 802 B ──")
	s.press("esc")
	s.shows("gemini")
	if s.m.overlays.Top() != nil {
		t.Error("the wire is still open")
	}
}

func TestASessionWithoutAWireSaysSo(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.press("f7")
	s.shows("keeps no protocol log")
}
