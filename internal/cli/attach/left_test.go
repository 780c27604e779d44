package attach

import (
	"testing"

	"agentctl/internal/cli/verb"
)

func TestAttachCommandNamesTheServer(t *testing.T) {
	cli := &verb.Context{Env: func(string) string { return "" }}
	cli.Flags = verb.Flags{
		Server: "wss://box:7777", Token: "the-token", Dialect: "agentloop", As: "Ann B",
		Options: []string{"user=it's"}, Data: "/tmp/data",
	}
	want := `agentctl --server wss://box:7777 --dialect agentloop --as 'Ann B' --data /tmp/data ` +
		`--dialect-option 'user=it'\''s' attach 'my fix'`
	if got := attachCommand(cli, "my fix", ""); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	cli.Env = func(name string) string { return map[string]string{"AGENTCTL_DATA": "/tmp/data"}[name] }
	cli.Flags = verb.Flags{Data: "/tmp/data"}
	if got := attachCommand(cli, "fix", ""); got != "agentctl attach fix" {
		t.Errorf("got %s", got)
	}
	if got := attachCommand(cli, "fix", "box"); got != "agentctl --on box attach fix" {
		t.Errorf("got %s", got)
	}
}
