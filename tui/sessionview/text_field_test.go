package sessionview

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"agentctl/internal/dev/thorough"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
)

// printableKeys returns every printable key of the keymap, and all letters and digits, each once.
func printableKeys() []string {
	keys := strings.Split("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ?/[].,;:-+*#", "")
	for _, d := range keymap.Definitions() {
		for _, key := range d.Keys {
			if utf8.RuneCountInString(key) == 1 {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// typingLine types a message and sends it.
func typingLine(text string) func(*testScreen) {
	return func(s *testScreen) { s.typeText(text); s.press("enter") }
}

// clearedEdit edits a queued message and removes its text.
func clearedEdit(s *testScreen) {
	s.press("tab", "e", "ctrl+u")
	s.takeCommands()
}

// interruptedQueueEmpty interrupts the turn, which holds the queue.
func interruptedQueueEmpty(s *testScreen) {
	s.press("esc")
	s.takeCommands()
	s.journal.EndTurn(protocol.ReasonInterrupted)
	s.applyJournal()
}

// A textField is a text field of a scene.
type textField struct {
	scene string
	open  func(*testScreen) // gives it the focus; nil: it has the focus
}

// textFields returns all text fields by name.
func textFields() map[string]textField {
	return map[string]textField{
		"composer beside a request":  {"approval", (*testScreen).waitGrace},
		"composer beside a question": {"question", (*testScreen).waitGrace},
		"composer beside a queue":    {"queue", nil},
		"composer beside a plan":     {"plan", nil},
		"command":                    {"command to edit", func(s *testScreen) { s.focusApproval(); s.press("e") }},
		"reason":                     {"approval", func(s *testScreen) { s.focusApproval(); s.press("r") }},
		"answer": {"question", func(s *testScreen) {
			s.focusApproval()
			s.press("down", "down", "enter")
		}},
		"task": {"tasks to confirm", func(s *testScreen) { s.focusApproval(); s.press("e") }},
		"comment in a review": {"patch", func(s *testScreen) {
			s.focusApproval()
			s.press("v")
			s.waitGrace()
			s.press("J", "m")
		}},
		"reason in a review": {"patch", func(s *testScreen) {
			s.focusApproval()
			s.press("v")
			s.waitGrace()
			s.press("r")
		}},
		"search":            {"transcript", pressing("ctrl+f")},
		"palette":           {"approval", pressing("ctrl+k")},
		"rename":            {"approval", typingLine("/rename")},
		"queue edit":        {"queue", clearedEdit},
		"held queue":        {"queue", interruptedQueueEmpty},
		"search in a pager": {"transcript", pressing("f1", "/")},
		"find in a review": {"patch", func(s *testScreen) {
			s.focusApproval()
			s.press("v")
			s.waitGrace()
			s.press("/")
		}},
		"name of a file": {"approval", func(s *testScreen) {
			s.saveFile("notes")
			s.m.canvas.Dirty = true
		}},
		"earlier messages": {"transcript", pressing("ctrl+r")},
		"turns":            {"transcript", pressing("f10")},
		"replacing a file": {"approval", func(s *testScreen) {
			s.saveFile("doc.go") // of this package
			s.press("enter")
			s.m.canvas.Dirty = true
		}},
	}
}

// saveFile asks for the name of a new file with a text.
func (s *testScreen) saveFile(name string) {
	f, _ := describe.PartFile(&protocol.Part{Type: "text", Name: name, Text: "text"})
	s.run(s.m.files.Save([]describe.File{f}))
}

// TestPrintableKeysOnlyWriteInTextFields presses every printable key in every text field, alone and
// after text. Only an empty composer needs a new screen for each key: it has keys for its first
// character. From any other field the key is deleted again.
func TestPrintableKeysOnlyWriteInTextFields(t *testing.T) {
	for name, c := range textFields() {
		for _, text := range []string{"", "ab"} {
			var s *testScreen
			for _, key := range thorough.Sample(printableKeys(), 12) {
				if s == nil || text == "" && strings.HasPrefix(name, "composer") {
					s = open(t, tuitest.Scenes[c.scene](), 100, 40)
					if c.open != nil {
						c.open(s)
					}
					s.typeText(text)
				}
				focus, top := s.m.focus, s.m.overlays.Top()
				before := s.m.View().Cursor
				s.press(key)
				for _, sent := range s.session.Commands() {
					if sent.Verb != protocol.DoSearch {
						t.Errorf("%s: %q sends %+v", name, key, sent)
					}
				}
				if s.m.focus != focus || s.m.overlays.Top() != top {
					t.Errorf("%s: %q moves the focus", name, key)
				}
				cursor := s.m.View().Cursor
				if before == nil || cursor == nil || cursor.X != before.X+1 {
					t.Fatalf("%s: %q does not write:\n%s", name, key, s.text())
				}
				row := []rune(strings.Split(s.text(), "\n")[cursor.Y])
				if cursor.X > len(row) || string(row[cursor.X-1]) != key {
					t.Errorf("%s: %q is not the last character of %q", name, key, string(row))
				}
				s.press("backspace")
				if cursor := s.m.View().Cursor; cursor == nil || *cursor != *before {
					s = nil
				}
			}
		}
	}
}

func TestDeletedTextIsInsertedInEveryTextField(t *testing.T) {
	for name, c := range textFields() {
		s := open(t, tuitest.Scenes[c.scene](), 100, 40)
		if c.open != nil {
			c.open(s)
		}
		s.typeText("xray two")
		s.press("ctrl+w", "ctrl+y", "ctrl+y")
		if !strings.Contains(s.text(), "xray twotwo") {
			t.Errorf("%s: ctrl+y does not insert what ctrl+w deleted:\n%s", name, s.text())
		}
	}
}

func TestTheEditorEditsEveryTextFieldOfOneLine(t *testing.T) {
	for _, name := range []string{
		"search", "rename", "search in a pager", "find in a review", "comment in a review", "name of a file",
		"earlier messages", "turns", "reason", "reason in a review", "answer", "task",
	} {
		c := textFields()[name]
		s := open(t, tuitest.Scenes[c.scene](), 100, 40)
		dir := s.setEditor(`printf "edited\nline\n" >> "$1"`)
		c.open(s)
		s.press("ctrl+u")
		s.typeText("typed")
		s.press("ctrl+g")
		if !strings.Contains(s.text(), "typed edited line") {
			t.Errorf("%s: the field has another text:\n%s", name, s.text())
		}
		s.mustLeaveNoFile(dir)
	}
}
