package completion

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/palette"
)

// rig is a message with its lists. The cursor is at its end.
type rig struct {
	*paneltest.Rig
	t       *testing.T
	lists   *Lists
	message string
	options protocol.Options
	dir     string
}

func open(t *testing.T, commands ...palette.Command) *rig {
	r := &rig{Rig: paneltest.New(t, tuitest.NewJournal()), t: t}
	r.lists = New(Config{
		Styles: r.Styles, Runner: &r.Commands.Runner,
		Commands:  func() []palette.Command { return slices.Clone(commands) },
		Options:   func() *protocol.Options { return &r.options },
		Directory: func() string { return r.dir },
	})
	r.Lines = func() []string { return append(r.lists.Commands(r.message, 80), r.lists.Files(80)...) }
	return r
}

// write replaces the message.
func (r *rig) write(message string) {
	r.t.Helper()
	r.message = message
	word := message[strings.LastIndex(message, " ")+1:]
	r.Run(r.lists.Follow(word))
	r.lists.Follow(word) // the view follows the word again after each answer
}

// mustPress fails unless a key has a result, and a list takes it or not.
func (r *rig) mustPress(key string, want Result, wantHandled bool) {
	r.t.Helper()
	got, handled := r.lists.Handle(r.message, tuitest.KeyPress(key))
	run := func(r Result) string {
		if r.Run == nil {
			return ""
		}
		return r.Run.Name
	}
	if handled != wantHandled || got.Message != want.Message || got.Word != want.Word || run(got) != run(want) {
		r.t.Fatalf("%q in %q: got %+v, handled %v, want %+v, %v", key, r.message, got, handled, want, wantHandled)
	}
}

func TestCommandsOfAMessage(t *testing.T) {
	help := palette.Command{Name: "/help", Action: keymap.Help}
	r := open(t, help,
		palette.Command{Name: "/plan", Hint: "what for"}, palette.Command{Name: "/play", Hint: "song"},
		palette.Command{Name: "/test"}, palette.Command{Name: "//approve"}, palette.Command{Name: "//review"},
	)
	for message, want := range map[string]struct {
		key     string
		result  Result
		handled bool
	}{
		"":         {"enter", Result{}, false},
		"x":        {"enter", Result{}, false},
		"x /pl":    {"tab", Result{}, false},
		"/pl x":    {"tab", Result{}, false},
		"/usr/bin": {"enter", Result{}, false},
		"/PL":      {"tab", Result{Message: "/plan "}, true},
		"/pla":     {"enter", Result{Message: "/plan "}, true},
		"/plan":    {"enter", Result{Message: "/plan"}, false}, // sent without arguments
		"/te":      {"enter", Result{Message: "/test"}, false},
		"/hel":     {"enter", Result{Run: &help}, true},
		"/HELP":    {"enter", Result{Run: &help}, true},
		"/approve": {"enter", Result{}, false}, // a word of agentctl
		"//ap":     {"enter", Result{Message: "//approve"}, false},
		"/tes":     {"x", Result{}, false}, // the list takes no letter
	} {
		r.write(message)
		r.mustPress(want.key, want.result, want.handled)
	}
	r.write("//")
	r.MustShow("2 commands", " ▸ //approve")
	r.MustHide("/plan")
}

func TestAClosedListOfCommandsStaysClosedForItsMessage(t *testing.T) {
	r := open(t, palette.Command{Name: "/plan"}, palette.Command{Name: "/play"})
	r.write("/pl")
	r.MustShow("2 commands", " ▸ /plan")
	r.mustPress("down", Result{}, true)
	r.MustShow(" ▸ /play")
	r.mustPress("esc", Result{}, true)
	r.MustHide("commands")
	r.mustPress("esc", Result{}, false)
	r.write("/pla")
	r.MustShow("2 commands", " ▸ /plan") // a new message selects the best match
}

func TestFilesOfAWord(t *testing.T) {
	r := open(t)
	r.dir = t.TempDir()
	for _, name := range []string{".git/HEAD", "src/main.go", "src/my file.go", "main.log", "evil\u202e.go"} {
		path := filepath.Join(r.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(r.dir, ".gitignore"), []byte("*.log\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.write("see @ma")
	r.MustShow("1 file ", " ▸ src/main.go")
	r.MustHide("main.log")
	r.mustPress("enter", Result{Word: "@src/main.go "}, true)
	r.write("see @myfi")
	r.mustPress("tab", Result{Word: `@"src/my file.go" `}, true)
	r.write("see ")
	r.MustHide("attaches")
	r.mustPress("enter", Result{}, false)
	r.write("@.go")
	r.MustShow("3 files")
	r.mustPress("down", Result{}, true)
	r.MustShow(" ▸ src/my file.go")
	r.mustPress("esc", Result{}, true)
	r.MustHide("attaches")
	r.mustPress("enter", Result{}, false)
}

func TestAnEarlierListingIsIgnored(t *testing.T) {
	r := open(t)
	r.dir = t.TempDir()
	first := r.lists.Follow("@a")
	r.lists.Follow("")
	r.lists.Follow("@a")
	for _, msg := range tuitest.Messages(first) {
		if _, changed := r.lists.Update(msg); changed {
			t.Error("a listing of an earlier word is used")
		}
	}
}

// Resources that the agent reads are completed before files, also of a session elsewhere. Names
// that cannot be typed are left out.
func TestResourcesOfAWord(t *testing.T) {
	r := open(t)
	r.dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(r.dir, "notes.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.options.Resources = []protocol.Resource{
		{Name: "box:note://1", Title: "A note\x1b[2J"},
		{Name: "box:note://\u202e2"},
		{Name: "box:db://x y"},
		{Name: "box:db://tables", Title: "Tables"},
	}
	r.write("@note")
	r.MustShow("1 resource · 1 file", " ▸ box:note://1  A note", "   notes.md")
	r.MustHide("box:db")
	r.mustPress("enter", Result{Word: "@box:note://1 "}, true)
	r.write("@box")
	r.MustShow("2 resources ")
	r.write("")
	r.dir = "" // on another machine
	r.write("@tab")
	r.MustShow("1 resource ", " ▸ box:db://tables  Tables")
	r.write("@tabx")
	r.MustShow("@ names no file here")
}
