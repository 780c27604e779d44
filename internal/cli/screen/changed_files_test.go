package screen

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// do sends a message to a session and waits for the end of its turn.
func (d *dashboardTest) do(name, text string) {
	d.t.Helper()
	if _, err := wsclient.Call[protocol.SendResult](d.ctx, d.other, protocol.DoSend, name, protocol.SendData{Text: text}); err != nil {
		d.t.Fatal(err)
	}
	d.until("the turn has ended", func() bool {
		r, err := wsclient.Call[protocol.SnapshotResult](d.ctx, d.other, protocol.DoSnapshot, name, nil)
		return err == nil && r.Status == protocol.Idle
	})
}

func TestTheFilesOfTurnsThatAreNotLoadedAndThoseOfGitAreShown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).Run(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "by-hand.go"), []byte("written by hand\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	edit := `{"on":"%s"}` + "\n" + `{"tool":"edit","kind":"edit","content":[{"type":"diff","path":"%s","old":"one\n","new":"%s\n"}]}`
	d := openDashboardOf(t, strings.Join([]string{
		fmt.Sprintf(edit, "old", "old.go", "uno"), fmt.Sprintf(edit, "left", "both.go", "links"),
		fmt.Sprintf(edit, "right", "both.go", "rechts"), `{"on":"*"}`, `{"say":"answer to {message}"}`,
	}, "\n"), dir, "alpha", "bravo")
	d.do("alpha", "old")
	for i := range 60 {
		d.do("alpha", fmt.Sprint("turn ", i))
	}
	d.do("alpha", "left")
	d.do("bravo", "right")
	d.until("the sessions are listed", func() bool { return d.shows("alpha") && d.shows("bravo") })
	d.enter("alpha", true)
	d.until("the session is loaded", func() bool { return d.shows("links") && d.shows("Message tour") })

	const f9, altW = "\x1b[20~", "\x1bw"
	d.press(f9)
	d.until("the files of all turns are listed", func() bool {
		return d.shows("files changed in this session") && d.shows("old.go") && d.shows("both.go") && d.shows("by-hand.go")
	})
	d.press("G\r")
	d.until("the file that git knows is shown", func() bool { return d.shows("+ written by hand") })
	d.press("qqq") // the file, the list, the page
	d.until("the page is closed", func() bool { return !d.shows("by-hand.go") && !d.shows("files changed") })

	d.press(altW + "v")
	d.until("a session is chosen", func() bool { return d.shows("split: choose the session") })
	d.press("bravo\r")
	d.until("both sessions are shown", func() bool { return d.shows("links") && d.shows("rechts") })
	d.press(f9)
	d.until("the changes are compared", func() bool {
		return d.shows("changed files of alpha and bravo") && d.shows("both · 1") && d.shows("only alpha · 1") && d.shows("old.go")
	})
	d.press("\r")
	d.until("the changes stand against each other", func() bool { return d.shows("+links") && d.shows("+rechts") })
}
