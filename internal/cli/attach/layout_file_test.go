package attach

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"agentctl/internal/cli/verb"
	"agentctl/internal/config"
	"agentctl/protocol"
	"agentctl/tui/split"
)

func TestTheLayoutIsKeptForItsServerWithoutSessionsThatAreGone(t *testing.T) {
	dir := t.TempDir()
	app := func(server string) *verb.Context {
		cli := &verb.Context{Env: func(name string) string { return map[string]string{"XDG_STATE_HOME": dir}[name] }}
		cli.Flags.Server = server
		cli.User.Servers = map[string]config.NamedServer{"box": {}}
		return cli
	}
	l := split.New("a").Split("gone", false).Split("box/b", true).Split("old/c", true)
	o := paneOptions(app("ws://one"), nil)
	if err := o.Save(l, true); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "agentctl", "layouts", "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has %v, %v", info, err)
	}
	sessions := []protocol.Summary{{Session: "a"}, {Session: "d"}}
	o = paneOptions(app("ws://one"), sessions)
	if got := o.Layout.Sessions(); !slices.Equal(got, []string{"a", "box/b"}) || !o.Hidden {
		t.Errorf("restored are %v, hidden %v", got, o.Hidden)
	}
	if o := paneOptions(app("ws://two"), sessions); o.Layout.Len() != 0 {
		t.Errorf("another server has %v", o.Layout.Sessions())
	}
	if err := os.WriteFile(files[0], []byte(`{"server":"ws://one","layout":{"focus":"x"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := paneOptions(app("ws://one"), sessions); o.Layout.Len() != 0 {
		t.Errorf("a damaged file has %v", o.Layout.Sessions())
	}
	if err := o.Save(split.Layout{}, false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(files[0]); !os.IsNotExist(err) {
		t.Errorf("a layout without sessions leaves the file: %v", err)
	}
}
