//go:build unix

package main

import (
	"regexp"
	"testing"
)

func TestABinaryBlobIsNotPrintedOnATerminal(t *testing.T) {
	t.Parallel()
	tt := newTerminalTest(t)
	acp := tt.command("new", "--name", "acp", "--agent", "acp:fake-acp", "--env", "FAKEACP=plain")
	if out, err := acp.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tt.run("send", "acp", "image 50000", "--wait")
	history, err := tt.command("history", "acp").Output()
	if err != nil {
		t.Fatal(err)
	}
	id := regexp.MustCompile("b_[0-9a-f]+").Find(history)
	tt.open(tt.command("blob", "acp", string(id)), "")
	if err := tt.Wait(tt.ctx); err != nil {
		t.Fatal(err)
	}
	if got := tt.Cmd.ProcessState.ExitCode(); got != 2 {
		t.Errorf("exit code %d", got)
	}
	want := "agentctl: blob " + string(id) + " is binary: image/png, 50000 bytes\n" +
		"  save it: agentctl blob acp " + string(id) + " --out FILE\n"
	if got := tt.stderr.String(); got != want {
		t.Errorf("stderr %q, want %q", got, want)
	}
	if out := tt.OutputSince(0); len(out) > 0 {
		t.Errorf("output %.80q", out)
	}
}
