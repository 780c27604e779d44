package keymap

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// meanings are the actions of the keys that docs/screen.md names, by its sections. "" is a key that
// cannot be rebound, see fixed.
var meanings = map[string]map[string]Action{
	"The tour": {"alt+k": SkipStep, "ctrl+c": ""},
	"Commands and keys": {
		"ctrl+k": OpenPalette, "enter": Send, "/": "", "esc": Cancel, "alt+r": ReleaseQueue,
		"y": Allow, "n": DenyRequest, "e": Edit, "c": Copy, "X": Remove,
		"ctrl+x": Interrupt,
		"ctrl+z": Suspend, "F1": Help, "↑": Up, "↓": Down, "ctrl+p": Up, "ctrl+n": Down, "pgup": PageUp,
		"pgdown": PageDown, "home": First, "end": Last, "tab": Complete, "ctrl+g": OpenEditor,
	},
	"A session":   {"ctrl+o": ToggleLast},
	"Images":      {"enter": Choose, "o": Open, "w": SaveFile},
	"Side column": {"alt+p": ToggleSide},
	"The message": {
		"/": "", "@": "", "alt+enter": "", "ctrl+j": "", "ctrl+c": "", "ctrl+z": Suspend, "ctrl+d": "",
		"ctrl+r": SearchPrompts, "↑": EarlierMessage, "↓": LaterMessage, "ctrl+p": EarlierMessage,
		"ctrl+n": LaterMessage, "esc": Cancel, "alt+t": TakeBack, "ctrl+w": "", "ctrl+u": "", "ctrl+y": "",
		"ctrl+g": OpenEditor, "alt+j": SendSteer, "t": QueueSteer,
	},
	"Scheduled messages": {"e": Edit, "ctrl+z": Suspend, "s": QueueSendNow},
	"Shell commands":     {"!": "", "ctrl+c": ""},
	"The mouse":          {"enter": Choose, "alt+m": SwitchMouse},
	"Editing a command": {
		"e": Edit, "alt+enter": "", "ctrl+g": OpenEditor, "enter": Choose, "esc": Back,
	},
	"Answering questions": {"enter": Choose, "y": Allow, "o": Open},
	"Review of changes": {
		"v": ViewWhole, "f": ListFiles, "d": DiffLayout, "y": Allow, "n": DenyRequest, "a": AllowAlways,
		"r": WriteReason, "F9": ShowChanges, "/": ListFind, ">": NextMatch, "<": PreviousMatch,
		"esc": Back, "enter": Choose, "m": ReviewComment,
	},
	"Turns":        {"F10": ShowOutline},
	"Find":         {"ctrl+f": Find, "/": ListFind, ">": NextMatch, "<": PreviousMatch},
	"Source files": {"e": Edit},
	"Replay": {
		"space": PlayPause, "+": PlayFaster, "-": PlaySlower, "[": Previous, "]": Next, "home": First,
		"end": Last, "/": ListFind, "tab": FocusNext,
	},
	"The list of sessions": {
		"F2": ShowSessions, "O": SortSessions, "z": Fold, "p": TogglePreview, "enter": Choose,
		"alt+g": JumpSession, "F8": NextPending, "/": ListFind, "l": LabelSession, "space": MarkSession,
		"*": MarkShown, "y": DecideRequest, "n": DenySessions, "ctrl+x": Interrupt,
		"m": SendSessions, "X": Remove, "+": NewSession, "→": Next, "esc": Back, "o": Open, "ctrl+k": OpenPalette,
	},
	"Sessions side by side": {
		"alt+w": PanePrefix, "v": SplitRight, "s": SplitBelow, "w": NextPane,
		"h": PaneLeft, "j": PaneDown, "k": PaneUp, "l": PaneRight, "z": ZoomPane, "c": ClosePane, "+": LargerPane,
		"-": SmallerPane, "F2": ShowSessions, "esc": Back, "enter": Choose, "F8": NextPending, "alt+g": JumpSession,
		"ctrl+k": OpenPalette,
	},
	"Several servers": {"F5": Reconnect, "+": NewSession},
}

// editing are keys of the text field, which no section of the help lists.
var editing = map[string][]string{"The message": {"alt+d"}}

var (
	quoted  = regexp.MustCompile("`([^`\n]+)`")
	program = regexp.MustCompile("(?s)```.*?```")
	keyLike = regexp.MustCompile(
		`^((ctrl|alt|shift)\+\S+|F\d+|esc|tab|enter|space|home|end|pgup|pgdown|[↑↓←→A-Za-z/*+=<>\[\]!@-])$`)
)

// TestManualNamesKeysByTheirActions compares the keys in the text of docs/screen.md with the
// keymap.
func TestManualNamesKeysByTheirActions(t *testing.T) {
	doc, err := os.ReadFile("../../docs/screen.md")
	if err != nil {
		t.Fatal(err)
	}
	text, _, ok := strings.Cut(string(doc), "<!-- keys -->")
	if !ok {
		t.Fatal("docs/screen.md has no table of keys")
	}
	m, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]map[string]bool{}
	section := ""
	for line := range strings.Lines(program.ReplaceAllString(text, "")) {
		if strings.HasPrefix(line, "#") {
			section = strings.TrimSpace(strings.TrimLeft(line, "#"))
			named[section] = map[string]bool{}
		}
		for _, found := range quoted.FindAllStringSubmatch(line, -1) {
			key := found[1]
			if !keyLike.MatchString(key) || slices.Contains(editing[section], key) {
				continue
			}
			named[section][key] = true
			action, ok := meanings[section][key]
			switch {
			case !ok:
				t.Errorf("%s: the action of %s is not known", section, key)
			case action == "" && !isFixed(key):
				t.Errorf("%s: no key %s", section, key)
			case action != "" && !slices.Contains(m.Keys(action), key):
				t.Errorf("%s: %s is not a key of %s, which has %v", section, key, action, m.Keys(action))
			}
		}
	}
	for section, keys := range meanings {
		for key := range keys {
			if !named[section][key] {
				t.Errorf("%s: the manual does not name %s", section, key)
			}
		}
	}
}

// isFixed reports whether a key cannot be rebound.
func isFixed(key string) bool {
	for i := range fixed {
		text := fixed[i].row.Keys + " " + fixed[i].row.About
		words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;", r) })
		if slices.Contains(words, key) {
			return true
		}
	}
	return false
}
