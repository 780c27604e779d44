package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"agentctl/tui/keymap"
	"agentctl/tui/notify"
	"agentctl/tui/ui"
)

func TestTheExampleConfigurationHasEveryName(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	u, problem := parseUser(b)
	if problem != nil {
		t.Fatalf("line %d: %v", problem.line, problem.err)
	}
	yes, no := true, false
	want := User{
		Server: "ws://127.0.0.1:8080/ws", Dialect: "agentloop", As: "ada",
		Theme: ui.ThemeDark, Color: &yes, Images: "off",
		Mouse: true, Bell: &yes, Notify: &no, Keep: 5,
		NotifyStates: []notify.State{notify.Waiting, notify.Failed}, NotifyLabels: []string{"team=infra", "urgent"},
		Keys:     keymap.Keys{"interrupt": {"ctrl+x", "ctrl+b"}, "list.remove": {"x"}, "plan.restart": {}},
		PassEnv:  []string{"MY_KEY", "CORP_*"},
		Worktree: Worktrees{Path: "../{repo}-{branch}", Setup: []string{"make", "deps"}},
		Servers:  map[string]NamedServer{"box": {URL: "ssh://ada@box:2222", Command: "/opt/agentctl", Share: &no}},
	}
	if !reflect.DeepEqual(u, want) {
		t.Errorf("%+v\nwant %+v", u, want)
	}
	var names map[string]any
	if err := json.Unmarshal(b, &names); err != nil {
		t.Fatal(err)
	}
	fields := slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[User]()), func(f reflect.StructField) bool {
		return f.Anonymous || !f.IsExported()
	})
	for _, f := range fields {
		if name := f.Tag.Get("json"); names[name] == nil {
			t.Errorf("the example has no %s", name)
		}
	}
	if len(names) != len(fields) {
		t.Errorf("%d names, %d fields", len(names), len(fields))
	}
	for name := range names {
		if !strings.Contains(namesHint, name) {
			t.Errorf("%s is not in %q", name, namesHint)
		}
	}
}

func TestAWrongConfigurationNamesTheLineAndWhatToDo(t *testing.T) {
	for _, c := range []struct {
		text, want, hint string
		line             int
	}{
		{"{\n \"theme\": \"pink\"\n}", `invalid theme "pink": want auto, dark`, "--help", 2},
		{"{\n \"mouse\": true,\n \"thme\": \"dark\"\n}", `unknown name "thme"`, "may contain as, bell", 3},
		{"{\n \"providers\": {}\n}", `unknown name "providers"`, "server.json: see", 2},
		{"{\n \"mouse\": \"yes\"\n}", "mouse cannot be a string", "--help", 2},
		{"{\n \"mouse\": true,\n}", "invalid character", "comma", 3},
		{"{\n \"mouse\": true\n", "unexpected end", "bracket", 3},
		{"{}\n{}", "after the JSON object", "one object", 2},
		{"[]", "cannot be a array", "--help", 1},
		{"{\n \"keys\": {\n  \"help\": [\"f1\"],\n  \"fly\": [\"f9\"]}}", "fly", "--help", 4},
		{"{\n \"keys\": {\n  \"interrupt\": [\"x\"]}}", "x", "--help", 3},
		{"{\n \"keys\": {\"interrupt\": [\"f9\"], \"help\": [\"f9\"]}}", "f9", "--help", 2},
		{"{\n \"server\": \"box\"}", "ws://HOST", "--help", 2},
		{"{\n \"server\": \"ws://box\",\n \"dialect\": \"latin\"}", "latin", "--help", 3},
		{"{\n \"pass_env\": [\"*\"]}", "want NAME or PREFIX_*", "--help", 2},
		{"{\n \"worktree\": {\"path\": \"../x\"}}", "no {branch}", "--help", 2},
		{"{\n \"worktree\": {\"path\": \"{branch}{home}\"}}", "unknown placeholder {home}", "--help", 2},
		{"{\n \"worktree\": {\"setup\": \"make deps\"}}", "worktree.setup cannot be a string", "--help", 2},
		{"{\n \"keep\": -1}", "want 1 or more", "--help", 2},
		{"{\n \"notify_states\": [\"idle\"]}", "want waiting, failed or finished", "--help", 2},
		{"{\n \"notify_labels\": [\"a b\"]}", "want KEY or KEY=VALUE", "--help", 2},
		{"{\n \"dialect\": \"agentloop\"}", "needs a server", "--help", 2},
	} {
		_, problem := parseUser([]byte(c.text))
		if problem == nil {
			t.Errorf("%s is accepted", c.text)
			continue
		}
		if problem.line != c.line || !strings.Contains(problem.err.Error(), c.want) ||
			!strings.Contains(problem.hint, c.hint) {
			t.Errorf("%s: line %d, %v (%s); want line %d, %s (%s)", c.text, problem.line, problem.err, problem.hint,
				c.line, c.want, c.hint)
		}
	}
	for _, fine := range []string{"", " \n", "{}", `{"keys":{}}`} {
		if _, problem := parseUser([]byte(fine)); problem != nil {
			t.Errorf("%q: %v", fine, problem.err)
		}
	}
}

func TestTheConfigurationFileIsWhereTheEnvironmentSays(t *testing.T) {
	for _, c := range []struct {
		env   map[string]string
		want  string
		named bool
	}{
		{map[string]string{"HOME": "/home/ada"}, "/home/ada/.config/agentctl/config.json", false},
		{map[string]string{"HOME": "/home/ada", "XDG_CONFIG_HOME": "/xdg"}, "/xdg/agentctl/config.json", false},
		{
			map[string]string{"HOME": "/home/ada", "XDG_CONFIG_HOME": "relative"},
			"/home/ada/.config/agentctl/config.json", false,
		},
		{map[string]string{"HOME": "/home/ada", "AGENTCTL_CONFIG": "mine.json"}, "mine.json", true},
		{nil, "", false},
	} {
		if !c.named && (runtime.GOOS == "darwin" || runtime.GOOS == "windows") {
			continue // the path depends on the system
		}
		env := func(name string) string { return c.env[name] }
		if path, named := UserPath(env); path != c.want || named != c.named {
			t.Errorf("%v: %s, %v; want %s, %v", c.env, path, named, c.want, c.named)
		}
	}
}

func FuzzParseUser(f *testing.F) {
	f.Add([]byte(`{"theme":"dark","keys":{"help":["f1"]},"bell":false}`))
	f.Add([]byte("{\n\"server\":\"ws://x\",\n\"dialect\":1}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, problem := parseUser(b)
		if problem != nil && (problem.err == nil || problem.hint == "" || problem.line < 1 ||
			problem.line > 1+strings.Count(string(b), "\n")) {
			t.Errorf("%q: %+v", b, problem)
		}
	})
}
