package wire

import (
	"testing"

	"agentctl/protocol"
)

func TestCommandsAreShownAsTheyRun(t *testing.T) {
	for _, command := range []string{
		"ls", "rm -rf build", "git commit -m 'a b'", "a | b", "X=1 make", "  ls", "echo $HOME", "bash -lc 'x'",
		"a  b", "cat <<E\nx\nE",
	} {
		if got := protocol.JoinCommand(SplitCommand(command)); got != command {
			t.Errorf("%q is shown as %q", command, got)
		}
	}
	if got := SplitCommand("X=1 make"); got[0] != "bash" {
		t.Errorf("a setting of the environment is no word: %q", got)
	}
	if got := SplitCommand("rm -rf build"); len(got) != 3 || got[0] != "rm" {
		t.Errorf("plain words: %q", got)
	}
}
