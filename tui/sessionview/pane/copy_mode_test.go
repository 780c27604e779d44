package pane

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// copyWith presses a key and returns the text put into the clipboard.
func (s *rig) copyWith(key string) string {
	s.t.Helper()
	cmd := s.start(tuitest.KeyPress(key))
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
func openWithAnswer(t *testing.T) *rig {
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
	if got := s.copyWith("C"); got != answer {
		t.Errorf("copied %q", got)
	}
	s.MustShow("copied the message: 14 lines, 183 characters")
	for i, want := range []string{
		"for range 100 {\n\tgo test()\n}\n", "make   all\n", "for range 100 {\n\tgo test()\n}\n",
	} {
		if got := s.copyWith("c"); got != want {
			t.Errorf("copied code block %d: %q", i, got)
		}
	}
	s.MustShow("copied code block 1 of 2: 3 lines, 29 characters")
	s.press("K")
	if got := s.copyWith("C"); got != "built all\nof it\n" {
		t.Errorf("copied tool output %q", got)
	}
	if got := s.copyWith("c"); got != "command: make all" {
		t.Errorf("copied tool call %q", got)
	}
	s.press("[")
	for _, key := range []string{"C", "c"} { // without code c copies the message too
		if got := s.copyWith(key); got != "how?" {
			t.Errorf("%s copied message %q", key, got)
		}
	}
}

func TestCopyLines(t *testing.T) {
	s := openWithAnswer(t)
	s.press("tab", "up", "space")
	s.MustShow("copy mode: 1 line · space starts selection · enter copies")
	if got := s.copyWith("c"); got != "Run it many times, with a line that is longer than the" {
		t.Errorf("copied line %q", got)
	}
	s.MustShow("copied 1 line, 54 characters")
	s.MustHide("copy mode")
	s.press("space", "space", "down")
	want := "Run it many times, with a line that is longer than the\nscreen is wide and has to be wrapped:"
	if got := s.copyWith("enter"); got != want {
		t.Errorf("copied lines %q, want %q", got, want)
	}
	s.press("space", "down", "down", "down", "down", "space", "j", "j")
	if got := s.copyWith("c"); got != " for range 100 {\n     go test()\n }" {
		t.Errorf("copied lines %q", got)
	}
	s.press("space", "g", "space", "G")
	begin, end := "\nada 09:41\nhow?\n\n", "12.3k tokens in · 678 out"
	if got := s.copyWith("c"); !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, end) {
		t.Errorf("copied all lines %q, want %q to %q", got, begin, end)
	}
}

func TestCopyModeKeepsPosition(t *testing.T) {
	s := open(t, tuitest.LongSession(transcriptview.ItemsMax/3-5), 60, 20)
	s.press("tab", "[", "space", "space")
	want := s.pane.View.List.Item(s.pane.copying.cursor.Item)
	more := tuitest.LongSession(20)
	more.Pending = more.Pending[3:]
	for _, u := range more.Pending {
		if e := u.Event; e != nil && e.Durable() {
			e.Seq += s.Replica.State.Seq - 1
		}
	}
	s.update(more.Take())
	if got := s.pane.View.List.Item(s.pane.copying.cursor.Item); got != want {
		t.Error("the cursor moved to another item")
	}
	s.press("esc")
	s.MustHide("copy mode")
	s.press("tab", "tab")
	s.MustHide("copy mode")
}

func TestCopyLimit(t *testing.T) {
	s := open(t, tuitest.NewJournal(), 60, 20)
	cmd := s.pane.copier.copy("it", strings.Repeat("é", ui.MaxCopy))
	if got := len(fmt.Sprint(tuitest.Messages(cmd)[0])); got != ui.MaxCopy {
		t.Errorf("copied %d bytes, want %d", got, ui.MaxCopy)
	}
	if !strings.Contains(s.Commands.Status.Text, "the first MiB of it") {
		t.Errorf("got status %q", s.Commands.Status.Text)
	}
}

func TestReplacedLogEndsModes(t *testing.T) {
	s := open(t, tuitest.LongSession(5), 60, 20)
	s.Session.ReplyToSearch(tuitest.NoHistory, []protocol.Hit{tuitest.Hit("m0", 2, 2, protocol.HitUser, "")})
	s.press("ctrl+f")
	s.typeText("question")
	s.press("enter", "space")
	s.MustShow("copy mode", "find: question")
	s.Journal.Pending = append(s.Journal.Pending, remote.Update{Attached: &protocol.SubscribeResult{
		Mode: protocol.ModeReset, Reason: protocol.ResetPastEnd, After: protocol.Position{Epoch: "zz", Seq: 100},
		Snapshot: &protocol.Snapshot{Epoch: "zz", State: &protocol.State{Seq: 100}},
	}})
	s.Journal.CaughtUp()
	s.applyJournal()
	s.MustHide("copy mode")
	s.MustHide("find:")
	s.press("y", "n", "[", "space", "b", "enter")
}

func TestTheEndOfATurnCopiesItsLastCode(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "How?")
	j.Text("one", "```sh\nmake\n```\nthen\n```sh\nmake test\n```")
	j.Text("two", "That is all.")
	j.EndTurn(protocol.ReasonCompleted)
	j.UserMessage(tuitest.Ada, "m2", "Thanks.")
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.press("tab", "G", "c")
	if got, want := s.Commands.Status.Text, "copied the message: 1 line, 7 characters"; got != want { // no code of another turn
		t.Errorf("got status %q, want %q", got, want)
	}
	s.press("[", "k")
	if got := s.copyWith("c"); got != "make test\n" {
		t.Errorf("copied %q", got)
	}
}

func TestAFileSaysWhatItsKeyOpens(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "Draw it.")
	j.Add(protocol.TextContent, protocol.TextContentData{
		Content: protocol.Content{Type: "image", Name: "plot.png", MediaType: "image/png", Blob: "b_c983a5bc"},
	})
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.press("tab", "G")
	s.MustShow("enter opens plot.png", "[image plot.png · image/png]")
	s.MustHide("b_c983a5bc")
	s.press("right", "enter")
	if got := strings.Join(s.files.opened, " "); got != "plot.png" {
		t.Errorf("opened %q", got)
	}
}
