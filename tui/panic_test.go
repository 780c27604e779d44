//go:build unix

package tui

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	tty "agentctl/internal/dev/terminal"
)

func TestPanicRestoresTerminal(t *testing.T) {
	for _, in := range []string{"update", "view", "task"} {
		t.Run(in, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			cmd := exec.CommandContext(ctx, os.Args[0])
			cmd.Env = append(os.Environ(), panicEnv+"="+in, "TERM=xterm-256color")
			var stderr strings.Builder
			cmd.Stderr = &stderr
			screen, err := tty.Start(cmd, 80, 24)
			if err != nil {
				t.Fatal(err)
			}
			defer screen.Close()
			running := func(b []byte) bool { return strings.Contains(ansi.Strip(string(b)), "running") }
			if err := screen.WaitFor(ctx, 0, running); err != nil {
				t.Fatal(err)
			}
			if err := screen.Type("!"); err != nil {
				t.Fatal(err)
			}
			if err := screen.Wait(ctx); err != nil {
				t.Fatal(err)
			}
			if code := cmd.ProcessState.ExitCode(); code != 1 {
				t.Errorf("got exit code %d, want 1", code)
			}
			if got := stderr.String(); !strings.Contains(got, "broken in "+in) ||
				!strings.Contains(got, "ended: run screen:") {
				t.Errorf("got stderr %q, want the panic and the error of the program", got)
			}
			for _, mode := range tty.UnrestoredModes(screen.OutputSince(0)) {
				t.Errorf("mode not restored: %s", mode)
			}
			if !screen.SettingsRestored() {
				t.Error("the terminal settings are not restored")
			}
		})
	}
}
