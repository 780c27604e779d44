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
		"ctrl+k": OpenPalette, "enter": Send, "/": "", "esc": Cancel, "alt+r": ReleaseQueue, "alt+q": ClearQueue,
		"ctrl+x": Interrupt,
		"ctrl+z": Suspend, "F1": Help, "↑": Up, "↓": Down, "ctrl+p": Up, "ctrl+n": Down, "pgup": ListPageUp,
		"pgdown": ListPageDown, "home": First, "end": Last, "tab": Complete, "ctrl+g": OpenEditor,
	},
	"Themes":      {"alt+l": NextTheme},
	"A session":   {"ctrl+o": ToggleLast},
	"Images":      {"enter": Choose, "x": OpenFile, "w": SaveFile},
	"Side column": {"alt+p": ToggleSide},
	"The message": {
		"/": "", "@": "", "alt+enter": "", "ctrl+j": "", "ctrl+c": "", "ctrl+z": RestoreDraft, "ctrl+d": DeleteOrLeave,
		"ctrl+r": SearchPrompts, "↑": ComposerEarlier, "↓": ComposerLater, "ctrl+p": EarlierMessage,
		"ctrl+n": LaterMessage, "esc": Cancel, "alt+t": TakeBack, "ctrl+w": "", "ctrl+u": "", "ctrl+y": "",
		"ctrl+g": OpenEditor, "alt+j": SendSteer, "t": QueueSteer,
	},
	"Scheduled messages": {"e": QueueEdit, "ctrl+z": Suspend, "s": QueueSendNow, "C": QueueClear},
	"Shell commands":     {"!": "", "ctrl+c": ""},
	"The mouse":          {"enter": Choose},
	"Editing a command": {
		"p": EditRequest, "alt+enter": "", "ctrl+g": OpenEditor, "enter": Choose, "esc": Back,
	},
	"Answering questions": {"enter": Choose, "y": Allow, "o": OpenPage},
	"Review of changes": {
		"v": ViewRequest, "f": ReviewFiles, "s": ReviewLayout, "y": Allow, "n": DenyRequest, "a": AllowAlways,
		"r": WriteReason, "F9": ShowChanges, "/": ReviewFind, "N": ReviewPreviousMatch, "z": ReviewFold, "esc": Back,
		"enter": Choose, "c": ReviewComment,
	},
	"Turns":        {"F10": ShowOutline, "O": TranscriptOutline},
	"Find":         {"ctrl+f": Find, "/": TranscriptFind, "n": OlderMatch, "N": NewerMatch},
	"Source files": {"F": OpenPlace},
	"Replay": {
		"space": PlayPause, "+": PlayFaster, "-": PlaySlower, "[": PlayPrevious, "]": PlayNext, "home": PlayFromStart,
		"end": PlayToEnd, "/": PlayFind, "o": PlayOutline, "tab": FocusNext,
	},
	"The list of sessions": {
		"F2": ShowSessions, "s": SortSessions, "t": ToggleChildren, "p": TogglePreview, "enter": Choose,
		"alt+g": JumpSession, "F8": NextPending, "/": FilterSessions, "l": LabelSession, "space": MarkSession,
		"*": MarkShown, "y": DecideRequest, "N": DenySessions, "i": StopSessions, "m": SendSessions,
		"X": CloseOrDelete, "n": NewSession, "→": FormNextChoice, "esc": Back, "o": OpenSession, "ctrl+k": OpenPalette,
	},
	"Sessions side by side": {
		"alt+v": SplitRight, "alt+m": SplitBelow, "alt+a": NextPane,
		"alt+shift+h": PaneLeft, "alt+shift+l": PaneRight, "alt+shift+k": PaneUp, "alt+shift+j": PaneDown,
		"alt+z": ZoomPane, "alt+e": ClosePane, "alt+.": WiderPane, "alt+,": NarrowerPane, "alt+=": TallerPane,
		"alt+-": ShorterPane, "F2": ShowSessions, "esc": Back, "enter": Choose, "F8": NextPending, "alt+g": JumpSession,
		"ctrl+k": OpenPalette,
	},
	"Several servers": {"F5": Reconnect, "n": NewSession},
}

// editing are keys of the text field, which no section of the help lists.
var editing = map[string][]string{"The message": {"alt+d"}}

var (
	quoted  = regexp.MustCompile("`([^`\n]+)`")
	program = regexp.MustCompile("(?s)```.*?```")
	keyLike = regexp.MustCompile(
		`^((ctrl|alt|shift)\+\S+|F\d+|esc|tab|enter|space|home|end|pgup|pgdown|[↑↓←→A-Za-z/*+=\[\]!@-])$`)
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
