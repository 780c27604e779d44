package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"agentctl/tui/keymap"

	"agentctl/tui"
)

func TestTheExampleConfigurationHoldsEverythingThereIs(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	p, wrong := parsePersonal(b)
	if wrong != nil {
		t.Fatalf("line %d: %v", wrong.line, wrong.err)
	}
	yes, no := true, false
	want := personal{
		Server: "ws://127.0.0.1:8080/ws", Dialect: "agentloop", As: "ada", Theme: tui.ThemeDark, Color: &yes, Mouse: true, Bell: &yes, Notify: &no, Keep: 5,
		Keys: keymap.Keys{"interrupt": {"ctrl+x", "ctrl+b"}, "queue.remove": {"x"}, "composer.help": {}},
	}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("%+v\nwant %+v", p, want)
	}
	var names map[string]any
	if err := json.Unmarshal(b, &names); err != nil {
		t.Fatal(err)
	}
	kind := reflect.TypeFor[personal]()
	for i := range kind.NumField() {
		if name := kind.Field(i).Tag.Get("json"); names[name] == nil {
			t.Errorf("the example says nothing of %s", name)
		}
	}
	if len(names) != kind.NumField() {
		t.Errorf("%d names, %d fields", len(names), kind.NumField())
	}
	for _, page := range []string{newAttach(&app{}, nil).Long, explain(nil, &unknownField{}).todo} {
		for name := range names {
			if !strings.Contains(page, name) {
				t.Errorf("%s is not told of in %q", name, page)
			}
		}
	}
}

// unknownField is the error of a field that there is not.
type unknownField struct{}

func (*unknownField) Error() string { return `json: unknown field "x"` }

func TestAWrongConfigurationNamesTheLineAndWhatToDo(t *testing.T) {
	for _, c := range []struct {
		text, want, todo string
		line             int
	}{
		{"{\n \"theme\": \"pink\"\n}", "theme is auto, dark", "--help", 2},
		{"{\n \"mouse\": true,\n \"thme\": \"dark\"\n}", `no "thme"`, "it may hold as, bell", 3},
		{"{\n \"mouse\": \"yes\"\n}", "mouse cannot be a string", "--help", 2},
		{"{\n \"mouse\": true,\n}", "invalid character", "comma", 3},
		{"{\n \"mouse\": true\n", "too early", "bracket", 3},
		{"{}\n{}", "something follows", "one object", 2},
		{"[]", "cannot be a array", "--help", 1},
		{"{\n \"keys\": {\n  \"help\": [\"f1\"],\n  \"fly\": [\"f9\"]}}", `no action "fly"`, "--help", 4},
		{"{\n \"keys\": {\n  \"interrupt\": [\"x\"]}}", "free for writing", "--help", 3},
		{"{\n \"keys\": {\"interrupt\": [\"f9\"], \"help\": [\"f9\"]}}", "both", "--help", 2},
		{"{\n \"server\": \"box\"}", "ws://HOST", "--help", 2},
		{"{\n \"server\": \"ws://box\",\n \"dialect\": \"latin\"}", "latin", "--help", 3},
		{"{\n \"keep\": -1}", "1 or more", "--help", 2},
		{"{\n \"dialect\": \"agentloop\"}", "name that too", "--help", 2},
	} {
		_, wrong := parsePersonal([]byte(c.text))
		if wrong == nil {
			t.Errorf("%s is taken", c.text)
			continue
		}
		if wrong.line != c.line || !strings.Contains(wrong.err.Error(), c.want) || !strings.Contains(wrong.todo, c.todo) {
			t.Errorf("%s: line %d, %v (%s); want line %d, %s (%s)", c.text, wrong.line, wrong.err, wrong.todo, c.line, c.want, c.todo)
		}
	}
	for _, fine := range []string{"", " \n", "{}", `{"keys":{}}`} {
		if _, wrong := parsePersonal([]byte(fine)); wrong != nil {
			t.Errorf("%q: %v", fine, wrong.err)
		}
	}
}

func TestFlagsAndEnvironmentWinOverTheFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mine.json")
	if err := os.WriteFile(file, []byte(`{"server":"ws://file/ws","dialect":"agentloop","as":"filed","color":false,"theme":"light"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		flags globals
		env   map[string]string
		want  globals
	}{
		{"the file", globals{}, nil, globals{Server: "ws://file/ws", Dialect: "agentloop", As: "filed", NoColor: true}},
		{"a flag", globals{As: "flag", Server: "ws://flag"}, nil, globals{Server: "ws://flag", As: "flag", NoColor: true}},
		{"the environment", globals{}, map[string]string{"AGENTCTL_SERVER": "ws://env"}, globals{Server: "ws://env", As: "filed", NoColor: true}},
		{"another dialect of its server", globals{Dialect: "sandcastle"}, nil, globals{Server: "ws://file/ws", Dialect: "sandcastle", As: "filed", NoColor: true}},
		{"--data means the local server", globals{Data: "/d"}, nil, globals{Data: "/d", As: "filed", NoColor: true}},
		{"a data directory of the environment does not", globals{}, map[string]string{"AGENTCTL_DATA": "/d"}, globals{Server: "ws://file/ws", Dialect: "agentloop", Data: "/d", As: "filed", NoColor: true}},
	} {
		a := &app{flags: c.flags, env: func(name string) string {
			if name == "AGENTCTL_CONFIG" {
				return file
			}
			return c.env[name]
		}}
		a.flags.Output = formatText
		c.want.Output = formatText
		if err := a.readEnvironment(); err != nil || a.personalErr != nil || !reflect.DeepEqual(a.flags, c.want) {
			t.Errorf("%s: %+v, %v, %v; want %+v", c.name, a.flags, err, a.personalErr, c.want)
		}
	}
}

func TestWhereTheConfigurationFileIs(t *testing.T) {
	for _, c := range []struct {
		env   map[string]string
		want  string
		named bool
	}{
		{map[string]string{"HOME": "/home/ada"}, "/home/ada/.config/agentctl/config.json", false},
		{map[string]string{"HOME": "/home/ada", "XDG_CONFIG_HOME": "/xdg"}, "/xdg/agentctl/config.json", false},
		{map[string]string{"HOME": "/home/ada", "XDG_CONFIG_HOME": "relative"}, "/home/ada/.config/agentctl/config.json", false},
		{map[string]string{"HOME": "/home/ada", "AGENTCTL_CONFIG": "mine.json"}, "mine.json", true},
		{nil, "", false},
	} {
		if !c.named && (runtime.GOOS == "darwin" || runtime.GOOS == "windows") {
			continue // the system says where
		}
		a := &app{env: func(name string) string { return c.env[name] }}
		if path, named := a.personalPath(); path != c.want || named != c.named {
			t.Errorf("%v: %s, %v; want %s, %v", c.env, path, named, c.want, c.named)
		}
	}
}

func TestAScreenIsAsTheFileSaysUnlessAFlagDoes(t *testing.T) {
	no := false
	a := &app{personal: personal{Theme: tui.ThemeLight, Mouse: true, Bell: &no, Notify: &no, Keys: keymap.Keys{"help": {"f12"}}}}
	got, err := parsed(newAttach, "fix")
	if err != nil {
		t.Fatal(err)
	}
	got.app = a
	if s := got.screen(); s.Theme != tui.ThemeLight || !s.Mouse || !s.Alerts.NoBell || !s.Alerts.NoNotify || s.Keys["help"][0] != "f12" {
		t.Errorf("%+v", s)
	}
	if got, err = parsed(newAttach, "fix --theme dark --mouse=false"); err != nil {
		t.Fatal(err)
	}
	got.app = a
	if s := got.screen(); s.Theme != tui.ThemeDark || s.Mouse {
		t.Errorf("%+v", s)
	}
}

func FuzzParsePersonal(f *testing.F) {
	f.Add([]byte(`{"theme":"dark","keys":{"help":["f1"]},"bell":false}`))
	f.Add([]byte("{\n\"server\":\"ws://x\",\n\"dialect\":1}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, wrong := parsePersonal(b)
		if wrong != nil && (wrong.err == nil || wrong.todo == "" || wrong.line < 1 || wrong.line > 1+strings.Count(string(b), "\n")) {
			t.Errorf("%q: %+v", b, wrong)
		}
	})
}

func TestTheConfigurationInTheHelpCanBeTaken(t *testing.T) {
	long := newAttach(&app{}, nil).Long
	from, to := strings.Index(long, "  {"), strings.LastIndex(long, "}")
	if from < 0 || to < from {
		t.Fatalf("no example in %s", long)
	}
	p, wrong := parsePersonal([]byte(long[from : to+1]))
	if wrong != nil {
		t.Fatalf("line %d: %v", wrong.line, wrong.err)
	}
	if p.Server == "" || len(p.Keys) != 2 {
		t.Errorf("%+v", p)
	}
}
