package keymap

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestKeysCheck(t *testing.T) {
	for _, c := range []struct {
		keys Keys
		want string
	}{
		{Keys{"fly": {"f9"}}, `unknown action "fly"`},
		{Keys{"interrupt": {"x"}}, "is needed for writing"},
		{Keys{"interrupt": {"space"}}, "is needed for writing"},
		{Keys{"composer.send": {"1"}}, "is needed for writing"},
		{Keys{"interrupt": {"ctrl x"}}, "is not a key"},
		{Keys{"interrupt": {""}}, "is not a key"},
		{Keys{"interrupt": {"ctrl+c"}}, "cannot be rebound"},
		{Keys{"interrupt": {"f9"}, "help": {"f9"}}, "both"},
	} {
		if err := c.keys.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.keys, err, c.want)
		}
	}
	if err := (Keys{"interrupt": {"f2"}, "queue.hold": {"x"}, "composer.later": nil}).Check(); err != nil {
		t.Error(err)
	}
}

// letters are the meanings of the letters that are keys in lists, requests, pagers and reviews. Keys
// after a prefix and in copy mode, which takes all keys, are not listed.
var letters = map[string]string{
	"j": "move", "k": "move", "g": "move", "G": "move", "J": "step", "K": "step", "q": "back",
	"y": "decide", "a": "decide", "n": "deny", "r": "reason", "X": "remove", "R": "restart",
	"v": "view", "e": "edit", "o": "open", "c": "copy", "C": "copy", "f": "files", "d": "layout", "z": "fold",
	"u": "unread", "m": "write", "w": "save", "p": "preview", "O": "sort", "l": "label", "s": "send", "t": "steer",
	"h": "hold",
}

// meaningOf names what the actions with letters do.
var meaningOf = map[Action]string{
	Up: "move", Down: "move", First: "move", Last: "move", PreviousStep: "step", NextStep: "step", Back: "back",
	Allow: "decide", AllowAlways: "decide", DecideRequest: "decide", DenyRequest: "deny", DenySessions: "deny",
	WriteReason: "reason", Remove: "remove", TaskRestart: "restart", ViewWhole: "view", Edit: "edit", Open: "open",
	Copy: "copy", CopyItem: "copy", ListFiles: "files", DiffLayout: "layout", Fold: "fold", ReviewUnread: "unread",
	ReviewComment: "write", SendSessions: "write", SaveFile: "save", TogglePreview: "preview", SortSessions: "sort",
	LabelSession: "label", QueueSendNow: "send", QueueSteer: "steer", HoldQueue: "hold",
}

func TestLettersHaveOneMeaning(t *testing.T) {
	acts := []string{"decide", "deny", "remove", "restart", "send"} // decides or destroys
	writes := []string{"reason", "write"}                           // opens a text field
	byLetter := map[string]string{}                                 // a letter in either case
	for _, d := range Definitions() {
		if d.Scope == Panes || d.Scope == CopyMode {
			continue
		}
		for _, key := range d.Keys {
			if len(key) != 1 || !unicode.IsLetter(rune(key[0])) {
				continue
			}
			meaning := meaningOf[d.Action]
			if want := letters[key]; meaning == "" || meaning != want {
				t.Errorf("%q of %s means %q, elsewhere %q", key, d.Action, meaning, want)
			}
			lower := strings.ToLower(key)
			other := byLetter[lower]
			byLetter[lower] = meaning
			if slices.Contains(writes, other) || slices.Contains(writes, meaning) {
				continue
			}
			if other != "" && other != meaning && (slices.Contains(acts, meaning) || slices.Contains(acts, other)) {
				t.Errorf("%q: %s and %s differ by the shift key", key, other, meaning)
			}
		}
	}
}

// TestKeysStayFew bounds what a user has to learn.
func TestKeysStayFew(t *testing.T) {
	if n := len(Definitions()); n > 120 {
		t.Errorf("%d actions, want at most 120", n)
	}
	m, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for place := range essential {
		rows := 0
		for _, s := range m.First(place) {
			rows += len(s.Rows)
		}
		if rows > FirstPage || rows < FirstPage/2 {
			t.Errorf("%s: %d keys on the first page of the help", place, rows)
		}
	}
}

func TestDefaultKeysAreUnique(t *testing.T) {
	bound := map[Scope]map[string]Action{}
	defined := map[Action]bool{}
	for _, d := range Definitions() {
		if defined[d.Action] {
			t.Errorf("%s is defined twice", d.Action)
		}
		defined[d.Action] = true
		if bound[d.Scope] == nil {
			bound[d.Scope] = map[string]Action{}
		}
		for _, key := range d.Keys {
			if other := bound[d.Scope][key]; other != "" {
				t.Errorf("%s: %q is bound to both %s and %s", d.Scope, key, other, d.Action)
			}
			bound[d.Scope][key] = d.Action
			if err := checkKey(d.Scope, key); err != nil {
				t.Errorf("%s: %v", d.Action, err)
			}
		}
	}
}
