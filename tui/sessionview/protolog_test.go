package sessionview

import (
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/logview"
)

// openProtocolLog opens the protocol log and loads its frames, without waiting for more.
func (s *testScreen) openProtocolLog() {
	s.t.Helper()
	cmd := s.m.Update(tuitest.KeyPress("f7"))
	if _, ok := s.m.overlays.Top().(*logview.View); !ok {
		s.t.Fatal("the protocol log is not open")
	}
	s.m.Update(tuitest.FirstMessage(cmd))
}

// openWithLog returns a screen of a session with a protocol log, which is open.
func openWithLog(t *testing.T, width, height int) *testScreen {
	s := open(t, tuitest.Scenes["transcript"](), width, height)
	s.m.Session = tuitest.LoggedSession{FakeSession: s.session, Log: tuitest.SampleLog()}
	s.openProtocolLog()
	return s
}

var protocolLogScenes = []goldenScene{
	{
		name: "protocol_log", open: logScene(), heights: protocolLogHeights,
		shows: []string{
			"protocol log · 10 messages · 802 B", "09:41:00.000 · opened ws://box:7777/v1", "09:41:00.001 →",
			"hello", "09:41:00.005 ←", "hello answer", "09:41:01.005 →", "send", "23ms", "09:41:01.028 ←",
			"send answer", "⋮ ←", "turn.started", "09:41:02.028 ←", "fold", "09:41:02.029 →", "ack",
			"09:41:03.029 →", "approve", "3.0s", "▸09:41:06.029 ←", "approve error conflict",
		},
		wide: []string{
			"following", `send 1 23ms {"text":"修复测试 please"}`, "5–9 fold", `"token":"‹hidden›"`, "decided by bob",
			"d direction · t type · p pause · y copy · w save",
		},
		status: []string{"enter open · / filter", "F7 back"},
	},
	{
		name: "protocol_log_sent", open: logScene("d", "up"), heights: protocolLogHeights,
		shows: []string{
			"protocol log · 10 messages · 802 B", "opened ws://box:7777/v1", "09:41:00.001 →", "hello",
			"09:41:01.005 →", "send", "▸09:41:02.029 →", "ack", "09:41:03.029 →", "approve", "3.0s",
		},
		wide:   []string{"5 shown: → sent"},
		status: []string{"enter open · / filter", "F7 back"},
	},
	{
		name: "protocol_log_filter", open: logScene("/", "s", "e", "n", "d"), heights: protocolLogHeights,
		shows: []string{
			"protocol log · 10 messages · 802 B", "09:41:01.005 →", "send", "23ms", "▸09:41:01.028 ←", "send answer",
		},
		wide:   []string{`2 shown: "send" · following`},
		status: []string{"filter: send"},
	},
	{
		name: "protocol_log_frame", open: logScene("up", "up", "up", "enter"), heights: protocolLogHeights,
		shows: []string{
			`{ "session": "s1", "seq": 9, "first_seq": 5, "type": "fold", "data": { "parts": [ {`,
			`"part": "p", "kind": "text", "text": "On it.\u001b[2J" } ] } }`,
		},
		wide:   []string{"frame 6 · fold · 123 bytes"},
		status: []string{"frame 6 · f", "15/15 · / find · esc back"},
	},
}

var protocolLogHeights = [3]int{16, 16, 20}

// logScene opens the protocol log and presses keys in it.
func logScene(keys ...string) func(t *testing.T, width, height int) *testScreen {
	return func(t *testing.T, width, height int) *testScreen {
		s := openWithLog(t, width, height)
		s.press(keys...)
		return s
	}
}

func TestGoldenProtocolLog(t *testing.T) { testGoldenScenes(t, protocolLogScenes) }

func TestProtocolLogSizes(t *testing.T) {
	for width := 1; width < 130; width += 7 {
		for _, height := range []int{1, 2, 3, 12} {
			s := openWithLog(t, width, height)
			for _, keys := range [][]string{
				nil, {"up"}, {"enter"}, {"esc"}, {"/", "x"}, {"esc"}, {"t"}, {"home"}, {"pgup"}, {"pgdown"}, {"end"},
			} {
				s.press(keys...)
				lines := strings.Split(s.m.View().Content, "\n")
				if len(lines) > height {
					t.Fatalf("got %d rows at %dx%d", len(lines), width, height)
				}
				for _, line := range lines {
					if ansi.StringWidth(line) > width {
						t.Fatalf("line %q is too wide at %dx%d", line, width, height)
					}
				}
			}
		}
	}
}

func TestProtocolLogHidesCredentials(t *testing.T) {
	s := openWithLog(t, 200, 30)
	if strings.Contains(s.text(), "the-token") {
		t.Errorf("the screen shows the credential:\n%s", s.text())
	}
	s.press("up", "enter")
	s.mustShow(`"token": "‹hidden›"`)
	s.press("q", "y")
	s.mustShow("copied")
	t.Chdir(t.TempDir())
	s.press("w")
	s.mustShow("9 frames saved to agentctl-protocol-log-20260304-094200.jsonl")
	file, err := os.ReadFile("agentctl-protocol-log-20260304-094200.jsonl")
	if err != nil || strings.Contains(string(file), "the-token") || strings.Count(string(file), "\n") != 9 {
		t.Errorf("got error %v, file\n%s", err, file)
	}
	s.press("w")
	s.mustShow("file exists")
}

func TestProtocolLogFilter(t *testing.T) {
	s := openWithLog(t, 100, 20)
	s.press("up", "t")
	s.mustShow("3 shown: approve")
	s.press("t", "/", "o", "n", " ", "i", "t", "enter")
	s.mustShow(`1 shown: "on it"`)
	s.press("esc")
	s.mustShow("10 messages · 802 B ──")
	s.press("esc")
	s.mustShow("gemini")
	if s.m.overlays.Top() != nil {
		t.Error("the protocol log is still open")
	}
}

func TestProtocolLogMissing(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.press("f7")
	s.mustShow("keeps no protocol log")
}
