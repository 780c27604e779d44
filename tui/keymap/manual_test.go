package keymap

import (
	"os"
	"strings"
	"testing"

	"agentctl/internal/dev/golden"
)

// TestManualListsAllKeys compares the table in docs/screen.md with the keymap.
func TestManualListsAllKeys(t *testing.T) {
	const file, start, end = "../../docs/screen.md", "<!-- keys -->\n", "<!-- end of keys -->\n"
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(doc), start)
	table, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no table of keys", file)
	}
	want := manualTable(t)
	if golden.Update() {
		golden.Write(t, file, before+start+want+end+after)
		return
	}
	if table != want {
		t.Errorf("%s: got the table\n%s\nwant\n%s\nrun go test ./tui/keymap -update", file, table, want)
	}
}

// manualTable returns the table of all places and their keys.
func manualTable(t *testing.T) string {
	m, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, s := range m.Sections("") {
		out.WriteString("\n### " + string(s.Scope) + "\n\n| keys | |\n|-|-|\n")
		for _, r := range s.Rows {
			out.WriteString("| `" + strings.ReplaceAll(r.Keys, ", ", "` `") + "` | " + r.About + " |\n")
		}
	}
	return out.String() + "\n"
}

// TestEveryActionIsInTheHelp looks for each action among the rows of its place.
func TestEveryActionIsInTheHelp(t *testing.T) {
	m, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[Scope][]Row{}
	for _, s := range m.Sections(Queue) {
		rows[s.Scope] = s.Rows
	}
	if first := m.Sections(Queue)[0].Scope; first != Queue {
		t.Errorf("the first place is %s", first)
	}
	for _, d := range Definitions() {
		found := false
		for _, r := range rows[d.Scope] {
			found = found || r.About == d.About && r.Keys != ""
		}
		if !found {
			t.Errorf("the help lacks %s of %s", d.Action, d.Scope)
		}
	}
}

// TestFunctionKeysHaveTwins requires a second key with ctrl or alt for each function key.
func TestFunctionKeysHaveTwins(t *testing.T) {
	isFunctionKey := func(key string) bool { return len(key) > 1 && key[0] == 'f' && key[1] >= '0' && key[1] <= '9' }
	for _, d := range Definitions() {
		functions, twins := 0, 0
		for _, key := range d.Keys {
			switch {
			case isFunctionKey(key):
				functions++
			case strings.HasPrefix(key, "ctrl+"), strings.HasPrefix(key, "alt+"):
				twins++
			}
		}
		if functions > twins {
			t.Errorf("%s of %s has a function key without a twin: %v", d.Action, d.Scope, d.Keys)
		}
	}
}

// TestLettersOfDestructiveActions requires keys that no word begins with.
func TestLettersOfDestructiveActions(t *testing.T) {
	for _, a := range []Action{Remove, ClearQueue} {
		for _, key := range DefinitionOf(a).Keys {
			if len(key) == 1 && key[0] >= 'a' && key[0] <= 'z' {
				t.Errorf("%s: %q begins a word", a, key)
			}
		}
	}
}
