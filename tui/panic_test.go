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

	tty "agentctl/internal/terminal"
)

func TestPanicRestoresTerminal(t *testing.T) {
	for _, in := range []string{"update", "view", "errand"} {
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
				t.Errorf("exit code %d", code)
			}
			if told := stderr.String(); !strings.Contains(told, "broken in "+in) ||
				!strings.Contains(told, "ended: run screen:") {
				t.Errorf("stderr is %q", told)
			}
			for _, what := range tty.UnrestoredModes(screen.OutputSince(0)) {
				t.Error("left on the terminal:", what)
			}
			if !screen.SettingsRestored() {
				t.Error("the terminal's settings are not what they were")
			}
		})
	}
}
