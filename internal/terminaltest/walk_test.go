//go:build terminal

package terminaltest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestAWalkThroughASession(t *testing.T) {
	p := newPane(t, 100, 30)
	p.runs("new", "--name", "walk", "--agent", "script:walk.script")
	p.shows("shell$")
	p.write("agentctl attach walk\n")
	p.shows("● idle")

	// Prompt, and approve.
	p.write("fix the build")
	p.press("Enter")
	p.shows("I look at the build", "go test ./...", "Remove the build", "rm -rf build")
	p.until("decision", func(screen string) bool { return strings.Contains(screen, "The build is removed.") }, func() {
		if !strings.Contains(p.screen(), "> 1") { // it was not armed yet, and the key was written
			p.press("1")
			return
		}
		p.press("BSpace")
	})
	p.shows("completed", "idle")

	// Queue, edit, reorder, remove.
	p.write("slow please")
	p.press("Enter")
	p.shows("● running", "I begin.")
	for _, text := range []string{"first thing", "second thing", "third thing"} {
		p.write(text)
		p.press("Enter")
		p.shows(text)
	}
	p.shows("3 messages")
	p.press("Tab")
	p.shows("remove")
	p.press("e")
	p.shows("editing a queued message")
	p.write(", edited")
	p.press("Enter")
	p.shows("first thing, edited")
	p.press("Tab", "J")
	p.until("order", func(screen string) bool {
		return regexp.MustCompile(`(?s)1 second thing.*2 first thing, edited`).MatchString(screen)
	}, nil)
	p.press("x")
	p.shows("2 messages")
	p.hides("2 first thing, edited")
	p.press("Escape")
	p.hides("e edit")

	// Interrupt: what was queued goes on.
	p.press("C-x")
	p.shows("keep it")
	p.press("k")
	p.shows("interrupted", "You said: second thing", "You said: third thing", "idle")

	// Search, and copy what was found.
	p.press("C-f")
	p.write("println")
	p.press("Enter")
	p.shows("built")
	p.press("Escape")
	p.until("copy", func(screen string) bool { return strings.Contains(screen, "copied") }, func() { p.press("Tab", "y") })
	p.until("the clipboard", func(string) bool {
		out, err := p.tmux("show-buffer")
		return err == nil && out != ""
	}, nil)

	// An editor of one's own, which has the terminal.
	p.until("editor", func(screen string) bool { return strings.Contains(screen, "> written in an editor") }, func() { p.press("C-g") })
	p.press("Enter")
	p.shows("You said: written in an editor")

	// The wire, and back.
	p.press("F7")
	p.shows("the wire", "ack", "→")
	p.press("/")
	p.write("approve")
	p.press("Enter")
	p.shows("approve answer")
	p.press("Up", "Enter")
	p.shows(`"command": "approve"`)
	p.press("q", "F7")
	p.hides("the wire")

	// Detach, and come back to what happened meanwhile.
	p.press("C-c")
	p.shows("press ctrl+c again")
	p.press("C-c")
	p.shows("shell$")
	p.hides("● idle")
	p.runs("send", "walk", "while you were away", "--wait")
	p.write("agentctl attach walk\n")
	p.shows("You said: while you were away", "● idle")
}

func TestAScreenIsRightAfterAStormOfSizesAndASuspension(t *testing.T) {
	p := newPane(t, 100, 30)
	p.runs("new", "--name", "walk", "--agent", "script:walk.script")
	p.runs("send", "walk", "one 漢字 👍 long "+strings.Repeat("word ", 60), "--wait")
	p.runs("send", "walk", "two", "--wait")
	p.shows("shell$")
	p.write("agentctl attach walk\n")
	p.shows("You said: two", "● idle")
	fresh := p.screen()

	for i := range 100 {
		p.must("resize-window", "-x", fmt.Sprint(20+i*37%180), "-y", fmt.Sprint(3+i*13%50))
	}
	p.must("resize-window", "-x", "100", "-y", "30")
	p.until("screen as before the storm", func(screen string) bool { return screen == fresh }, nil)

	p.press("C-z")
	p.shows("shell$")
	p.runs("send", "walk", "while it slept", "--wait")
	p.must("resize-window", "-x", "90", "-y", "24")
	p.write("fg\n")
	p.shows("You said: while it slept", "● idle")
	p.must("resize-window", "-x", "100", "-y", "30")
	p.shows("You said: two")
	p.until("last row", func(screen string) bool {
		rows := strings.Split(screen, "\n")
		return len(rows) == 30 && strings.Contains(rows[29], "● idle")
	}, nil)
}
