package sessionview

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// copyWith presses a key and returns the text put into the clipboard.
func (s *testScreen) copyWith(key string) string {
	s.t.Helper()
	cmd := s.m.Update(tuitest.KeyPress(key))
	for _, msg := range tuitest.Messages(cmd) {
		if text := fmt.Sprint(msg); fmt.Sprintf("%T", msg) == "tea.setClipboardMsg" {
			return text
		}
	}
	return ""
}

const answer = "Run it **many** times, with a line that is longer than the screen is wide and has to be wrapped:\n\n" +
	"```go\nfor range 100 {\n\tgo test()\n}\n```\n\nthen:\n\n1. look\n   ```sh\n   make   all\n   ```\n"

// openWithAnswer returns a screen of one turn with a tool call and answer.
func openWithAnswer(t *testing.T) *testScreen {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "how?")
	j.Add(protocol.ToolStarted, protocol.ToolStartedData{
		Tool: "c1", Name: "shell", Title: "make", Input: []byte(`{"command":"make all"}`),
	})
	j.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Text: "built \x1b[31mall\x1b[m\nof it\n"})
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})
	j.Text("t", answer)
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	return open(t, j, 60, 30)
}

func TestCopySource(t *testing.T) {
	s := openWithAnswer(t)
	s.press("tab", "up") // from the end of the turn to the answer
	if got := s.copyWith("y"); got != answer {
		t.Errorf("copied %q", got)
	}
	s.mustShow("copied the message: 14 lines, 183 characters")
	for i, want := range []string{
		"for range 100 {\n\tgo test()\n}\n", "make   all\n", "for range 100 {\n\tgo test()\n}\n",
	} {
		if got := s.copyWith("c"); got != want {
			t.Errorf("copied code block %d: %q", i, got)
		}
	}
	s.mustShow("copied code block 1 of 2: 3 lines, 29 characters")
	s.press("T")
	if got := s.copyWith("y"); got != "built all\nof it\n" {
		t.Errorf("copied tool output %q", got)
	}
	if got := s.copyWith("c"); got != "command: make all" {
		t.Errorf("copied tool call %q", got)
	}
	s.press("[")
	if got := s.copyWith("y"); got != "how?" {
		t.Errorf("copied message %q", got)
	}
	if got := s.copyWith("c"); got != "" {
		t.Errorf("copied %q, want no code", got)
	}
	s.mustShow("there is no code in it")
}

func TestCopyLines(t *testing.T) {
	s := openWithAnswer(t)
	s.press("tab", "up", "space")
	s.mustShow("copy mode: 1 line · space starts selection · b block")
	if got := s.copyWith("y"); got != "Run it many times, with a line that is longer than the" {
		t.Errorf("copied line %q", got)
	}
	s.mustShow("copied 1 line, 54 characters")
	s.mustHide("copy mode")
	s.press("space", "b")
	want := "Run it many times, with a line that is longer than the\nscreen is wide and has to be wrapped:"
	if got := s.copyWith("enter"); got != want {
		t.Errorf("copied block %q, want %q", got, want)
	}
	s.press("space", "b", "b")
	s.mustShow("copy mode: 7 lines")
	if got := s.copyWith("y"); !strings.HasSuffix(got, "to be wrapped:\n\n go\n for range 100 {\n     go test()\n }") {
		t.Errorf("copied two blocks %q", got)
	}
	s.press("space", "down", "down", "down", "down", "space", "j", "j")
	if got := s.copyWith("y"); got != " for range 100 {\n     go test()\n }" {
		t.Errorf("copied lines %q", got)
	}
	s.press("space", "g", "space", "G")
	begin, end := "\nada 09:41\nhow?\n\n", "12.3k tokens in · 678 out"
	if got := s.copyWith("y"); !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, end) {
		t.Errorf("copied all lines %q, want %q to %q", got, begin, end)
	}
}

func TestCopyModeKeepsPosition(t *testing.T) {
	s := open(t, tuitest.LongSession(transcriptview.ItemsMax/3-5), 60, 20)
	s.press("tab", "[", "space", "b")
	want := s.m.transcript.view.List.Item(s.m.transcript.copyMode.cursor.Item)
	more := tuitest.LongSession(20)
	more.Pending = more.Pending[3:]
	for _, u := range more.Pending {
		if e := u.Event; e != nil && e.Durable() {
			e.Seq += s.m.replica.State.Seq - 1
		}
	}
	s.update(more.Take())
	if got := s.m.transcript.view.List.Item(s.m.transcript.copyMode.cursor.Item); got != want {
		t.Error("the cursor moved to another item")
	}
	s.press("esc")
	s.mustHide("copy mode")
	s.press("tab", "tab")
	s.mustHide("copy mode")
}

func TestCopyThroughMultiplexer(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte("some text"))
	for _, c := range []struct {
		env   string
		plain bool
		want  string
	}{
		{"TERM=xterm", true, ""},
		{"TERM=xterm TMUX= STY=", true, ""},
		{"TERM=tmux-256color TMUX=/tmp/tmux-0/default,1,0", true, "\x1bPtmux;\x1b\x1b]52;c;" + encoded + "\a\x1b\\"},
		{"TERM=screen STY=1.pts-0", false, "\x1bP\x1b]52;c;" + encoded + "\a\x1b\\"},
	} {
		plain, raw := false, ""
		for _, msg := range tuitest.Messages(ui.DetectClipboard(strings.Fields(c.env)).Copy("some text")) {
			if m, ok := msg.(tea.RawMsg); ok {
				raw = fmt.Sprint(m.Msg)
			} else {
				plain = plain || fmt.Sprint(msg) == "some text"
			}
		}
		if plain != c.plain || raw != c.want {
			t.Errorf("%s: got plain %v, raw %q, want %v, %q", c.env, plain, raw, c.plain, c.want)
		}
	}
}

func TestCopyLimit(t *testing.T) {
	s := open(t, tuitest.NewJournal(), 60, 20)
	cmd := s.m.transcript.copy("it", strings.Repeat("é", ui.MaxCopy))
	if got := len(fmt.Sprint(tuitest.Messages(cmd)[0])); got != ui.MaxCopy {
		t.Errorf("copied %d bytes, want %d", got, ui.MaxCopy)
	}
	if !strings.Contains(s.m.status.Text, "the first MiB of it") {
		t.Errorf("got status %q", s.m.status.Text)
	}
}

func TestReplacedLogEndsModes(t *testing.T) {
	s := open(t, tuitest.LongSession(5), 60, 20)
	s.setSearchResults(noHistory, []protocol.Hit{hit("m0", 2, protocol.HitUser, "")})
	s.press("ctrl+f")
	s.typeText("question")
	s.press("enter", "space")
	s.mustShow("copy mode", "find: question")
	s.journal.Pending = append(s.journal.Pending, remote.Update{Attached: &protocol.SubscribeResult{
		Mode: protocol.ModeReset, Reason: protocol.ResetPastEnd, After: protocol.Position{Epoch: "zz", Seq: 100},
		Snapshot: &protocol.Snapshot{Epoch: "zz", State: &protocol.State{Seq: 100}},
	}})
	s.journal.CaughtUp()
	s.applyJournal()
	s.mustHide("copy mode")
	s.mustHide("find:")
	s.press("y", "n", "[", "space", "b", "enter")
}

func TestCopyModeSizes(t *testing.T) {
	for _, name := range []string{"transcript", "hostile", "prose"} {
		for _, width := range []int{1, 2, 3, 9, 40} {
			for _, height := range []int{1, 2, 3, 7, 12} {
				s := open(t, tuitest.Scenes[name](), width, height)
				s.m.setFocus(onTranscript)
				for _, keys := range []string{
					"[", "]", "T", "E", "space b j b pgup G", "y", "c", "space space g enter", "/ a enter",
					"n N", "alt+up", "space esc esc",
				} {
					s.press(strings.Fields(keys)...)
					view := s.m.View()
					lines := strings.Split(view.Content, "\n")
					if len(lines) > height {
						t.Fatalf("%s at %dx%d after %s: got %d rows", name, width, height, keys, len(lines))
					}
					for _, line := range lines {
						if ansi.StringWidth(line) > width {
							t.Fatalf("%s at %dx%d after %s: line %q is too wide", name, width, height, keys, line)
						}
						if bare := ansi.Strip(line); strings.ContainsAny(bare, "\x1b\u202e\u009b") {
							t.Fatalf("%s at %dx%d after %s: control character in %q", name, width, height, keys, line)
						}
					}
				}
			}
		}
	}
}

func TestCopySanitized(t *testing.T) {
	s := open(t, tuitest.Scenes["hostile"](), 100, 60)
	s.m.setFocus(onTranscript)
	s.press("g")
	for id := s.m.transcript.view.List.First(); id <= s.m.transcript.view.List.Last(); id++ {
		for _, key := range []string{"y", "c"} {
			if got := s.copyWith(key); strings.ContainsAny(got, "\x1b\u009b\u202e\a\r") {
				t.Errorf("%s copied control characters: %q", key, got)
			}
		}
		s.press("down")
	}
	s.press("space", "g", "space", "G")
	if got := s.copyWith("y"); got == "" || strings.ContainsAny(got, "\x1b\u009b\u202e\a\r") {
		t.Errorf("copied all lines %q", got)
	}
}
