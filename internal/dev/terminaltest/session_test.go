//go:build terminal

package terminaltest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestASessionFromPromptToReattach(t *testing.T) {
	p := newTerminalTest(t, 100, 30)
	p.agentctl("new", "--name", "demo", "--agent", "script:session.script")
	p.waitShown("shell$")
	p.typeText("agentctl attach demo\n")
	p.waitShown("● idle")

	// Prompt, and approve.
	p.typeText("fix the build")
	p.press("Enter")
	p.waitShown("I look at the build", "go test ./...", "Remove the build", "rm -rf build")
	p.press("Tab")
	p.waitShown("y allow once") // the panel accepts a decision
	p.press("y")
	p.waitShown("The build is removed.")
	p.waitShown("completed", "idle")

	// Queue, edit, reorder, remove.
	p.typeText("slow please")
	p.press("Enter")
	p.waitShown("◐ running", "I begin.")
	for _, text := range []string{"first thing", "second thing", "third thing"} {
		p.typeText(text)
		p.press("Enter")
		p.waitShown(text)
	}
	p.waitShown("3 messages")
	p.press("Tab")
	p.waitShown("remove")
	p.press("e")
	p.waitShown("editing a queued message")
	p.typeText(", edited")
	p.press("Enter")
	p.waitShown("first thing, edited")
	p.press("S-Down")
	p.waitFor("order", func(screen string) bool {
		return regexp.MustCompile(`(?s)1 second thing.*2 first thing, edited`).MatchString(screen)
	}, nil)
	p.press("X")
	p.waitShown("2 messages")
	p.waitHidden("2 first thing, edited")
	p.press("Escape")
	p.waitHidden("e edit")

	// Interrupt, which holds the queue; release it.
	p.press("C-x")
	p.waitShown("alt+r release")
	p.press("M-r")
	p.waitShown("interrupted", "You said: second thing", "You said: third thing", "idle")

	// Search, and copy the match.
	p.press("C-f")
	p.typeText("println")
	p.press("Enter")
	p.waitShown("built")
	p.press("Escape")
	p.waitFor(
		"copy", func(screen string) bool { return strings.Contains(screen, "copied") }, func() { p.press("Tab", "c") },
	)
	p.waitFor("the clipboard", func(string) bool {
		out, err := p.tmux("show-buffer")
		return err == nil && out != ""
	}, nil)

	// The external editor, which gets the terminal.
	p.waitFor(
		"editor",
		func(screen string) bool { return strings.Contains(screen, "> written in an editor") },
		func() { p.press("C-g") },
	)
	p.press("Enter")
	p.waitShown("You said: written in an editor")

	// Detach, and reattach after another turn.
	p.press("C-c")
	p.waitShown("ctrl+c again leaves")
	p.press("C-c")
	p.waitShown("shell$")
	p.waitHidden("● idle")
	p.agentctl("send", "demo", "while you were away", "--wait")
	p.typeText("agentctl attach demo\n")
	p.waitShown("You said: while you were away", "● idle")
}

func TestTheScreenIsCorrectAfterManyResizesAndASuspension(t *testing.T) {
	p := newTerminalTest(t, 100, 30)
	p.agentctl("new", "--name", "demo", "--agent", "script:session.script")
	p.agentctl("send", "demo", "one 漢字 👍 long "+strings.Repeat("word ", 60), "--wait")
	p.agentctl("send", "demo", "two", "--wait")
	p.waitShown("shell$")
	p.typeText("agentctl attach demo\n")
	p.waitShown("You said: two", "● idle")
	fresh := p.screen()

	for i := range 100 {
		p.mustTmux("resize-window", "-x", fmt.Sprint(20+i*37%180), "-y", fmt.Sprint(3+i*13%50))
	}
	p.mustTmux("resize-window", "-x", "100", "-y", "30")
	p.waitFor("screen as before the resizes", func(screen string) bool { return screen == fresh }, nil)

	p.press("C-z")
	p.waitShown("shell$")
	p.agentctl("send", "demo", "while it slept", "--wait")
	p.mustTmux("resize-window", "-x", "90", "-y", "24")
	p.typeText("fg\n")
	p.waitShown("You said: while it slept", "● idle")
	p.mustTmux("resize-window", "-x", "100", "-y", "30")
	p.waitShown("You said: two")
	p.waitFor("last row", func(screen string) bool {
		rows := strings.Split(screen, "\n")
		return len(rows) == 30 && strings.Contains(rows[29], "● idle")
	}, nil)
}
