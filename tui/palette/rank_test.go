package palette

import (
	"slices"
	"testing"

	_ "agentctl/internal/dev/golden" // the flag -update
	"agentctl/protocol"
	"agentctl/tui/keymap"
)

// names returns the names of commands.
func names(commands []Command) []string {
	var out []string
	for _, c := range commands {
		out = append(out, c.Name)
	}
	return out
}

func TestRank(t *testing.T) {
	commands := []Command{
		{Name: "/release-notes", About: "write them", Hint: "for"},
		{Name: "/model"},
		{Name: "/mode"},
		{Name: "/plan-mode"},
		{Name: "/remote"},
		{Name: "//mode", About: "model of the day"},
	}
	for _, c := range []struct {
		text   string
		abouts bool
		want   []string
	}{
		{"", false, names(commands)},
		{"/mode", false, []string{"/mode", "//mode", "/model", "/plan-mode"}},
		{"MOD", false, []string{"/model", "/mode", "//mode", "/plan-mode"}},
		{"notes", false, []string{"/release-notes"}},
		{"rmt", false, []string{"/remote"}},
		{"mt", false, nil},
		{"day", false, nil},
		{"day", true, []string{"//mode"}},
		{"wr", true, nil}, // too short for the texts
	} {
		if got := names(Rank(commands, c.text, c.abouts)); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %v, want %v", c.text, got, c.want)
		}
	}
}

func TestAgentCommandsOfTheScreensNamesHaveTwoSlashes(t *testing.T) {
	got := OfAgent(&protocol.Options{Commands: []protocol.SlashCommand{
		{Name: "model"}, {Name: "/review", About: "a\x1b[2Jb\nc"}, {Name: " "}, {Name: "/"},
	}})
	if want := []string{"//model", "/review"}; !slices.Equal(names(got), want) {
		t.Fatalf("got %v, want %v", names(got), want)
	}
	if got[1].About != "ab c" {
		t.Errorf("got text %q", got[1].About)
	}
}

func TestCommandsShowOnlyKeysOfTheirScreen(t *testing.T) {
	keys, err := keymap.New(keymap.Keys{"settings": {"f9"}})
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, c := range OfScreen(keys, keymap.OnSession, keymap.Global) {
		shown[c.Name] = c.Key
	}
	for name, want := range map[string]string{"/settings": "F9", "/rename": "", "/new": "", "/quit": "ctrl+c twice"} {
		if got, ok := shown[name]; !ok || got != want {
			t.Errorf("%s: got key %q, want %q", name, got, want)
		}
	}
	for _, c := range OfScreen(keys, keymap.OnDashboard, keymap.Sessions) {
		if c.Name == "/rename" && c.Key != "e" || c.Name == "/settings" {
			t.Errorf("got %+v on the list of sessions", c)
		}
	}
}
