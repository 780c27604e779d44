package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/keymap"
)

var fruits = strings.Fields("apple banana cherry damson elder fig grape hazel iris jasmine")

// newTestPicker returns a picker of words. chosen holds what enter has chosen.
func newTestPicker(change func(*List[string])) (p *Picker[string], chosen *string) {
	chosen = new(string)
	list := List[string]{
		Title: func(int, int, int) string { return "words" },
		Rows: func(text string) []string {
			return slices.DeleteFunc(slices.Clone(fruits), func(s string) bool { return !strings.Contains(s, text) })
		},
		ID: func(s string) string { return s },
		Draw: func(s string, selected bool, _ int) []string {
			if selected {
				s = "▸" + s
			}
			return []string{s}
		},
		Choose: func(s string) Response {
			*chosen = s
			return Response{Close: true}
		},
		Empty: func(string) string { return "none" },
		Label: "find: ", Docked: 4,
	}
	if change != nil {
		change(&list)
	}
	return NewPicker(NewStyles(time.UTC, ""), list), chosen
}

var testKeys = map[string]tea.Key{
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown},
	"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "enter": {Code: tea.KeyEnter}, "tab": {Code: tea.KeyTab},
	"esc": {Code: tea.KeyEscape}, "ctrl+n": {Code: 'n', Mod: tea.ModCtrl}, "ctrl+p": {Code: 'p', Mod: tea.ModCtrl},
	"ctrl+g": {Code: 'g', Mod: tea.ModCtrl},
}

// pressKeys presses keys by name; a key without a name writes its text.
func (p *Picker[T]) pressKeys(keys ...string) (r Response) {
	for _, key := range keys {
		k, ok := testKeys[key]
		if !ok {
			k = tea.Key{Code: []rune(key)[0], Text: key}
		}
		r = p.Update(tea.KeyPressMsg(k))
	}
	return r
}

func TestKeysOfAPickerMoveTheSelection(t *testing.T) {
	for keys, want := range map[string]string{
		"":                    "apple",
		"down ctrl+n":         "cherry",
		"down down ctrl+p up": "apple",
		"pgdown":              "elder",
		"pgdown pgdown pgup":  "elder",
		"end":                 "jasmine",
		"end home":            "apple",
		"end down":            "jasmine",
		"up":                  "apple",
		"j":                   "jasmine", // it writes
		"e down":              "cherry",
		"down down a":         "apple", // a new text selects the first row
	} {
		p, chosen := newTestPicker(nil)
		p.View(40, 10)
		p.pressKeys(strings.Fields(keys)...)
		if r := p.pressKeys("enter"); !r.Close || *chosen != want {
			t.Errorf("%q: chose %q, want %q", keys, *chosen, want)
		}
	}
}

func TestTheWheelMovesTheSelection(t *testing.T) {
	p, _ := newTestPicker(nil)
	p.Update(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	if row, _ := p.Selected(); row != "damson" {
		t.Errorf("selected %q", row)
	}
}

func TestAPickerWithoutAFieldHasLettersAsKeys(t *testing.T) {
	p, chosen := newTestPicker(func(l *List[string]) { l.Label, l.Docked = "", 0 })
	p.pressKeys("j", "j", "k", "G", "k")
	if p.pressKeys("enter"); *chosen != "iris" {
		t.Errorf("chose %q", *chosen)
	}
	if r := p.pressKeys("q"); !r.Close {
		t.Error("q does not close it")
	}
}

func TestALetterAsAKeyOfListsDoesNotLockAPicker(t *testing.T) {
	p, chosen := newTestPicker(nil)
	keys, err := keymap.New(keymap.Keys{"list.back": {"q"}, "list.choose": {"c"}, "list.down": {"d"}})
	if err != nil {
		t.Fatal(err)
	}
	p.styles.Keys = keys
	if p.pressKeys("down", "enter"); *chosen != "banana" {
		t.Errorf("chose %q", *chosen)
	}
	if r := p.pressKeys("esc"); !r.Close {
		t.Error("esc does not close it")
	}
}

func TestTheMessageBoxKeepsTheKeysOfItsCursor(t *testing.T) {
	p, _ := newTestPicker(func(l *List[string]) {
		l.Label, l.Message = "", true
		l.Complete = func(s string) string { return s + "!" }
	})
	for _, key := range []string{"home", "end", "x"} {
		if _, handled := p.Handle(tea.KeyPressMsg(testKeys[key])); handled && key != "x" {
			t.Errorf("the list takes %s", key)
		}
	}
	if r := p.pressKeys("down", "tab"); r.Intent != (CompleteIntent{"banana!"}) {
		t.Errorf("tab: %+v", r.Intent)
	}
}

func TestTabCompletesTheField(t *testing.T) {
	p, _ := newTestPicker(func(l *List[string]) { l.Complete = func(s string) string { return s } })
	p.pressKeys("e", "down", "tab")
	if p.Text() != "cherry" {
		t.Errorf("the field is %q", p.Text())
	}
}

func TestASelectionStaysOnItsRow(t *testing.T) {
	rows := []string{"b", "c"}
	p, _ := newTestPicker(func(l *List[string]) { l.Rows = func(string) []string { return rows } })
	p.pressKeys("down")
	rows = []string{"a", "b", "c", "d"}
	if row, _ := p.Selected(); row != "c" {
		t.Errorf("selected %q", row)
	}
	rows = []string{"a", "b", "d"} // the row that took its place
	if row, _ := p.Selected(); row != "d" {
		t.Errorf("selected %q", row)
	}
	rows = nil
	if _, ok := p.Selected(); ok || p.Index() != -1 {
		t.Error("a row is selected")
	}
}

func TestAPickerUpwardsStartsAtItsEnd(t *testing.T) {
	rows := []string{"c", "d", "d"}
	asked := 0
	p, _ := newTestPicker(func(l *List[string]) {
		l.Upwards, l.Rows = true, func(string) []string { return rows }
		l.Before = func() Response {
			asked++
			return Response{}
		}
	})
	lines, cursor := p.View(20, 10)
	if len(lines) != 5 || lines[3] != "▸d" || cursor.Y != 4 {
		t.Errorf("got %q, cursor %+v", lines, cursor)
	}
	p.pressKeys("up", "up")
	if i := p.Index(); i != 0 || asked != 0 {
		t.Errorf("at %d, asked %d times", i, asked)
	}
	p.pressKeys("up")
	rows = []string{"a", "b", "c", "d", "d"}
	if i := p.Index(); i != 2 || asked != 1 {
		t.Errorf("at %d, asked %d times", i, asked)
	}
}

func TestTheWindowIsAroundTheSelectedRow(t *testing.T) {
	p, _ := newTestPicker(nil)
	p.pressKeys("down", "down", "down", "down", "down")
	lines, _ := p.View(20, 10)
	if got := strings.Join(lines[1:5], " "); got != "damson elder ▸fig grape" {
		t.Errorf("got %q", got)
	}
	p.styles.Keys.SetClickable(true)
	lines, _ = p.View(20, 10)
	var c Clickable
	c.Draw(strings.Join(lines, "\n"))
	if row := c.At(1, 4); row == nil || fruits[row.Row] != "grape" {
		t.Errorf("row %v", row)
	}
	p.styles.Keys.SetClickable(false)
	for height := range 4 {
		if lines, _ := p.View(20, height); len(lines) > height {
			t.Errorf("height %d: %q", height, lines)
		}
	}
	p.pressKeys("x")
	lines, _ = p.View(20, 10)
	if got := ansi.Strip(lines[1]); got != "none" {
		t.Errorf("got %q", got)
	}
}

func TestTheEditorEditsTheField(t *testing.T) {
	p, _ := newTestPicker(nil)
	p.pressKeys("e", "l")
	edit, ok := p.pressKeys("ctrl+g").Intent.(EditIntent)
	if !ok || edit.Text != "el" {
		t.Fatalf("got %+v", edit)
	}
	edit.Done("a\x1b[2J\nb\n")
	if p.Text() != "a b" {
		t.Errorf("the field is %q", p.Text())
	}
}
