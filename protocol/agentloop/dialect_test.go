package agentloop

import (
	"testing"

	"agentctl/protocol"
)

func TestTheURLNamesTheSession(t *testing.T) {
	for url, want := range map[string]string{
		"ws://localhost:8080": "agentloop", "ws://localhost:8080/": "agentloop",
		"ws://localhost:8080/ws/abc123":                "abc123",
		"wss://h/dialect/agentloop/fix%20ci?token=a/b": "fix ci", "wss://h?x=/y": "agentloop",
		"unix:///run/agentctl.sock": "agentloop",
		"ws://h/100%":               "100%", "ws://h/x#/y": "x", "": "agentloop",
	} {
		if got := sessionOf(pathOf(url)); got != want {
			t.Errorf("%s names %q, want %q", url, got, want)
		}
	}
}

func TestCommandsAreShownAsTheyRun(t *testing.T) {
	for _, command := range []string{
		"ls", "rm -rf build", "git commit -m 'a b'", "a | b", "X=1 make", "  ls", "echo $HOME", "bash -lc 'x'",
		"a  b", "cat <<E\nx\nE",
	} {
		if got := protocol.JoinCommand(splitCommand(command)); got != command {
			t.Errorf("%q is shown as %q", command, got)
		}
	}
	if got := splitCommand("X=1 make"); got[0] != "bash" {
		t.Errorf("a setting of the environment is no word: %q", got)
	}
	if got := splitCommand("rm -rf build"); len(got) != 3 || got[0] != "rm" {
		t.Errorf("plain words: %q", got)
	}
}
