package main

import "testing"

func TestAttachCommandNamesTheServer(t *testing.T) {
	a := &app{env: func(string) string { return "" }}
	a.flags = globalFlags{
		Server: "wss://box:7777", Token: "the-token", Dialect: "agentloop", As: "Ann B",
		Options: []string{"user=it's"}, Data: "/tmp/data",
	}
	want := `agentctl --server wss://box:7777 --dialect agentloop --as 'Ann B' --data /tmp/data ` +
		`--dialect-option 'user=it'\''s' attach 'my fix'`
	if got := a.attachCommand("my fix", ""); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	a.env = func(name string) string { return map[string]string{"AGENTCTL_DATA": "/tmp/data"}[name] }
	a.flags = globalFlags{Data: "/tmp/data"}
	if got := a.attachCommand("fix", ""); got != "agentctl attach fix" {
		t.Errorf("got %s", got)
	}
	if got := a.attachCommand("fix", "box"); got != "agentctl --on box attach fix" {
		t.Errorf("got %s", got)
	}
}
