package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"agentctl/internal/config"
	"agentctl/tui/keymap"
	"agentctl/tui/thumbnail"
	"agentctl/tui/ui"
)

func TestFlagsAndEnvironmentWinOverTheFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mine.json")
	if err := os.WriteFile(file, []byte(`{"server":"ws://file/ws","dialect":"agentloop","as":"filed","color":false,"theme":"light"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		flags globalFlags
		env   map[string]string
		want  globalFlags
	}{
		{"the file", globalFlags{}, nil, globalFlags{
			Server: "ws://file/ws", Dialect: "agentloop", As: "filed",
			NoColor: true,
		}},
		{
			"a flag",
			globalFlags{As: "flag", Server: "ws://flag"},
			nil,
			globalFlags{Server: "ws://flag", As: "flag", NoColor: true},
		},
		{
			"the environment",
			globalFlags{},
			map[string]string{"AGENTCTL_SERVER": "ws://env"},
			globalFlags{Server: "ws://env", As: "filed", NoColor: true},
		},
		{
			"another dialect of its server",
			globalFlags{Dialect: "sandcastle"},
			nil,
			globalFlags{Server: "ws://file/ws", Dialect: "sandcastle", As: "filed", NoColor: true},
		},
		{
			"--data means the local server",
			globalFlags{Data: "/d"},
			nil,
			globalFlags{Data: "/d", As: "filed", NoColor: true},
		},
		{
			"a data directory of the environment does not",
			globalFlags{},
			map[string]string{"AGENTCTL_DATA": "/d"},
			globalFlags{Server: "ws://file/ws", Dialect: "agentloop", Data: "/d", As: "filed", NoColor: true},
		},
	} {
		a := &app{flags: c.flags, env: func(name string) string {
			if name == "AGENTCTL_CONFIG" {
				return file
			}
			return c.env[name]
		}}
		a.flags.Output = formatText
		c.want.Output = formatText
		if err := a.readEnvironment(); err != nil || a.userConfigErr != nil || !reflect.DeepEqual(a.flags, c.want) {
			t.Errorf("%s: %+v, %v, %v; want %+v", c.name, a.flags, err, a.userConfigErr, c.want)
		}
	}
}

func TestFlagsOverrideTheScreenOptionsOfTheFile(t *testing.T) {
	no := false
	a := &app{env: func(string) string { return "" }, userConfig: config.User{
		Appearance: config.Appearance{Theme: ui.ThemeLight, Images: thumbnail.Off}, Mouse: true, Bell: &no, Notify: &no,
		Keys: keymap.Keys{"help": {"f12"}},
	}}
	got, err := parse(newAttach, "fix")
	if err != nil {
		t.Fatal(err)
	}
	got.app = a
	if s := got.screenOptions(); s.Theme != ui.ThemeLight || s.Images != thumbnail.Off || !s.Mouse ||
		!s.Alerts.NoBell || !s.Alerts.NoNotify || s.Keys["help"][0] != "f12" {
		t.Errorf("%+v", s)
	}
	if got, err = parse(newAttach, "fix --theme dark --mouse=false"); err != nil {
		t.Fatal(err)
	}
	got.app = a
	if s := got.screenOptions(); s.Theme != ui.ThemeDark || s.Mouse {
		t.Errorf("%+v", s)
	}
}

func TestTheHelpOfAttachHasAnExampleOfTheConfiguration(t *testing.T) {
	long := newAttach(&app{}, nil).Long
	from, to := strings.Index(long, "  {"), strings.LastIndex(long, "}")
	if from < 0 || to < from {
		t.Fatalf("no example in %s", long)
	}
	file := filepath.Join(t.TempDir(), "example.json")
	if err := os.WriteFile(file, []byte(long[from:to+1]), 0o600); err != nil {
		t.Fatal(err)
	}
	u, err := config.ReadUser(func(string) string { return file })
	if err != nil {
		t.Fatal(err)
	}
	if u.Server == "" || len(u.Keys) != 2 {
		t.Errorf("%+v", u)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[config.User]()) {
		if name := f.Tag.Get("json"); !f.Anonymous && !strings.Contains(long, `"`+name+`":`) {
			t.Errorf("the example has no %s", name)
		}
	}
}
