package attach

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"agentctl/internal/cli/verb"
	"agentctl/internal/config"
	"agentctl/internal/dev/verbtest"
	"agentctl/tui/keymap"
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
		flags verb.Flags
		env   map[string]string
		want  verb.Flags
	}{
		{"the file", verb.Flags{}, nil, verb.Flags{
			Server: "ws://file/ws", Dialect: "agentloop", As: "filed",
			NoColor: true,
		}},
		{
			"a flag",
			verb.Flags{As: "flag", Server: "ws://flag"},
			nil,
			verb.Flags{Server: "ws://flag", As: "flag", NoColor: true},
		},
		{
			"the environment",
			verb.Flags{},
			map[string]string{"AGENTCTL_SERVER": "ws://env"},
			verb.Flags{Server: "ws://env", As: "filed", NoColor: true},
		},
		{
			"another dialect of its server",
			verb.Flags{Dialect: "sandcastle"},
			nil,
			verb.Flags{Server: "ws://file/ws", Dialect: "sandcastle", As: "filed", NoColor: true},
		},
		{
			"--data means the local server",
			verb.Flags{Data: "/d"},
			nil,
			verb.Flags{Data: "/d", As: "filed", NoColor: true},
		},
		{
			"a data directory of the environment does not",
			verb.Flags{},
			map[string]string{"AGENTCTL_DATA": "/d"},
			verb.Flags{Server: "ws://file/ws", Dialect: "agentloop", Data: "/d", As: "filed", NoColor: true},
		},
	} {
		cli := &verb.Context{Flags: c.flags, Env: func(name string) string {
			if name == "AGENTCTL_CONFIG" {
				return file
			}
			return c.env[name]
		}}
		cli.Flags.Output = verb.FormatText
		c.want.Output = verb.FormatText
		if err := cli.ReadEnvironment(); err != nil || cli.UserErr != nil || !reflect.DeepEqual(cli.Flags, c.want) {
			t.Errorf("%s: %+v, %v, %v; want %+v", c.name, cli.Flags, err, cli.UserErr, c.want)
		}
	}
}

func TestFlagsOverrideTheScreenOptionsOfTheFile(t *testing.T) {
	no := false
	cli := &verb.Context{Env: func(string) string { return "" }, User: config.User{
		Theme: ui.ThemeLight, Images: "off", Mouse: true, Bell: &no, Notify: &no,
		Keys: keymap.Keys{"help": {"f12"}},
	}}
	got, err := verbtest.Parse[attachOptions](&attachVerb, "fix")
	if err != nil {
		t.Fatal(err)
	}
	got.CLI = cli
	if s := got.screenOptions(); s.Theme != ui.ThemeLight || !s.NoImages || !s.Mouse ||
		!s.Alerts.NoBell || !s.Alerts.NoNotify || s.Keys["help"][0] != "f12" {
		t.Errorf("%+v", s)
	}
	if got, err = verbtest.Parse[attachOptions](&attachVerb, "fix --theme dark --mouse=false"); err != nil {
		t.Fatal(err)
	}
	got.CLI = cli
	if s := got.screenOptions(); s.Theme != ui.ThemeDark || s.Mouse {
		t.Errorf("%+v", s)
	}
}

func TestTheScreenPageHasAnExampleOfTheConfiguration(t *testing.T) {
	page, err := os.ReadFile("../../../docs/screen.md")
	if err != nil {
		t.Fatal(err)
	}
	_, long, _ := strings.Cut(string(page), "\n## The configuration file\n")
	long, _, _ = strings.Cut(long, "\n## ")
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
		if name := f.Tag.Get("json"); !f.Anonymous && f.IsExported() && !strings.Contains(long, `"`+name+`":`) {
			t.Errorf("the example has no %s", name)
		}
	}
}
