package sessionview

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/keymap"
)

// hintEnd separates the hints of a line.
var hintEnd = regexp.MustCompile(` · |─+|[╭╮╰╯│]|: | {3,}`)

// hintedKeys returns the keys that a screen names, as they are pressed: those at the start of a
// part of a line that has several parts. A key of one cell counts only on a rule and on the last
// line.
func hintedKeys(screen string, m *keymap.Map) []string {
	names := map[string]string{
		"ctrl+c": "ctrl+c", "enter": "enter", "esc": "esc", "tab": "tab", "↑↓": "down", "1…9": "1",
	}
	for _, d := range keymap.Definitions() {
		for i, shown := range m.Keys(d.Action) {
			names[shown] = d.Keys[i]
		}
	}
	delete(names, "→") // in the protocol log it is a direction
	var out []string
	lines := strings.Split(strings.TrimSuffix(screen, "\n"), "\n")
	for i, line := range lines {
		parts := hintEnd.Split(line, -1)
		isRule := strings.HasPrefix(line, "─") || strings.HasPrefix(line, "╰") || i == len(lines)-1
		for _, part := range parts {
			word, label, _ := strings.Cut(strings.TrimSpace(part), " ")
			key := names[word]
			isLong := len([]rune(word)) > 1
			isHint := key != "" && len(parts) > 1 && (label != "" && isRule || isLong)
			if isHint && !slices.Contains(out, key) {
				out = append(out, key)
			}
		}
	}
	return out
}

// TestHintsNameKeysThatAct presses every key that a screen names, on a fresh screen, with the focus
// that the screen has.
func TestHintsNameKeysThatAct(t *testing.T) {
	t.Chdir(t.TempDir()) // a key saves the protocol log
	scenes := slices.Concat(screenScenes, planScenes, contextScenes, toolCallScenes, statusScenes)
	total := 0
	for _, scene := range scenes {
		if scene.name == "help" { // it lists the keys of all places
			continue
		}
		first := scene.open(t, 160, 60)
		keys := hintedKeys(first.text(), first.m.Styles.Keys)
		total += len(keys)
		for _, key := range keys {
			s := scene.open(t, 160, 60)
			s.waitGrace()
			before, draft, focus, sent := s.text(), s.m.input.Composer().Text(), s.m.focus, len(s.session.Commands())
			overlay := s.m.overlays.Top()
			msgs := tuitest.Messages(s.startKey(key))
			acts := slices.ContainsFunc(msgs, func(msg tea.Msg) bool { return msg != nil }) ||
				s.text() != before || s.m.focus != focus || s.m.overlays.Top() != overlay ||
				len(s.session.Commands()) != sent
			if len(key) == 1 && focus == onComposer && s.m.input.Composer().Text() != draft {
				t.Errorf("%s: %q writes into the message:\n%s", scene.name, key, before)
			}
			if !acts {
				t.Errorf("%s: the screen names %q, which does nothing:\n%s", scene.name, key, before)
			}
		}
	}
	if total < 100 {
		t.Errorf("only %d keys named on %d screens", total, len(scenes))
	}
}

// TestTheHintOfTheTranscriptIsThatOfTheSelectedItem selects each item of a transcript: the keys of
// items are named where they act, and tell why where they do not.
func TestTheHintOfTheTranscriptIsThatOfTheSelectedItem(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 160, 60)
	s.m.setFocus(onTranscript)
	s.press("home")
	expands, views := 0, 0
	for before := ""; s.text() != before; s.press("down") {
		before = s.text()
		for key, hint := range map[string]string{"enter": "enter expand/collapse", "v": "v view"} {
			named := strings.Contains(s.text(), hint)
			both := key == "enter" && strings.Contains(s.text(), "v view")
			s.press(key)
			if both && s.m.overlays.Top() != nil { // it opens a request as v does, which is named
				s.press("esc")
				continue
			}
			reason := s.m.status.Text
			if named == (reason != "") {
				t.Fatalf("%q is named: %v, status %q:\n%s", key, named, reason, s.text())
			}
			switch {
			case named && key == "v":
				views++
				s.press("esc")
			case named:
				expands++
				s.press(key)
			}
			s.m.status.Text = ""
		}
	}
	if expands < 2 || views < 2 {
		t.Errorf("%d items expand and %d can be viewed, want more", expands, views)
	}
}
