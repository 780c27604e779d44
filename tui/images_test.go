package tui

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/thumbnail"
	"agentctl/tui/ui"
)

// imageSession returns a session whose last message has an image.
func imageSession(t *testing.T) *tuitest.FakeSession {
	var data bytes.Buffer
	if err := png.Encode(&data, image.NewGray(image.Rect(0, 0, 40, 40))); err != nil {
		t.Fatal(err)
	}
	j := tuitest.NewJournal()
	url := "data:image/png;base64," + base64.StdEncoding.EncodeToString(data.Bytes())
	j.AddBy(tuitest.Ada, protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{
		MessageID: "m1", Text: "Look.", By: &tuitest.Ada,
		Parts: []protocol.Part{{Type: "image", Name: "a.png", URL: url}},
	}})
	j.CaughtUp()
	r := tuitest.NewFakeSession()
	for _, u := range j.Take() {
		r.Feed <- u
	}
	return r
}

// Answers of a terminal: to the query of the graphics protocol, its name and its attributes.
const (
	graphicsAnswer   = "\x1b_Gi=31;OK\x1b\\"
	kittyName        = "\x1bP>|kitty(0.42.1)\x1b\\"
	kittyAnswers     = graphicsAnswer + kittyName + attributesAnswer
	tmuxName         = "\x1bP>|tmux 3.4\x1b\\"
	attributesAnswer = "\x1b[?62;c"
)

func TestTheAnswersOfTheTerminalDecideHowImagesAreDrawn(t *testing.T) {
	for name, c := range map[string]struct {
		answers string
		want    string // a pattern of the output
		not     string
	}{
		"kitty":     {kittyAnswers, "\x1b_Ga=T,q=2,f=100,U=1,i=\\d+,c=4,r=2,m=0;", "▀"},
		"tmux":      {tmuxName + attributesAnswer, "▀", "a=T"},
		"no answer": {"", "▀", "a=T"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				keys, typing := io.Pipe()
				p, out, stop := startSession(t, imageSession(t), keys, 80, 24)
				defer stop()
				defer typing.Close()
				tuitest.Wait(time.Second)
				if strings.Contains(out.String(), "a=q") {
					t.Fatal("asks before it knows that there are colours")
				}
				p.sessions.send(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
				tuitest.Wait(time.Second)
				if n := strings.Count(out.String(), "a=q"); n != 1 {
					t.Fatalf("%d queries, want 1", n)
				}
				if c.answers != "" {
					_, _ = io.WriteString(typing, c.answers)
				}
				tuitest.Wait(3 * time.Second)
				if got := out.String(); !regexp.MustCompile(c.want).MatchString(got) || strings.Contains(got, c.not) {
					t.Errorf("the output lacks %s, or has %q", c.want, c.not)
				}
				if got := p.styles.Images.Method() == thumbnail.Kitty; got != (name == "kitty") {
					t.Errorf("kitty: %v", got)
				}
			})
		})
	}
}

func TestOffRemovesTheImages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys, typing := io.Pipe()
		p, out, stop := startSession(t, imageSession(t), keys, 80, 24)
		defer stop()
		defer typing.Close()
		tuitest.Wait(time.Second)
		p.sessions.send(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
		p.sessions.send(ui.ImagesMsg{Mode: thumbnail.UseKitty})
		tuitest.Wait(time.Second)
		if !strings.Contains(out.String(), "a=T") || strings.Contains(out.String(), "a=q") {
			t.Error("the image is not sent, or the terminal is asked")
		}
		p.sessions.send(ui.ImagesMsg{Mode: thumbnail.Off})
		tuitest.Wait(time.Second)
		if !strings.Contains(out.String(), "a=d,d=I") || strings.Contains(p.screen(), string('\U0010EEEE')) {
			t.Error("the image is not deleted")
		}
	})
}

func TestTheTerminalHasImagesInTheAlternateScreenOnly(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var data bytes.Buffer
	if err := png.Encode(&data, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	display := thumbnail.NewDisplay(thumbnail.UseKitty)
	display.SetColours(thumbnail.AllColours)
	image, err := display.Load(t.Context(), thumbnail.Kitty, data.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	out := &terminalWriter{file: file, images: display, mouse: true}
	sent, _ := display.Show(image, 80)
	removed := display.Leaving()
	for _, text := range []string{"a" + enterAltScreen + "b", "c" + leaveAltScreen + "d", "e"} {
		if n, err := io.WriteString(out, text); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
	}
	got, err := os.ReadFile(file.Name())
	want := "a" + enterAltScreen + "b" + sent + "c" + removed + leaveAltScreen + "de"
	if err != nil || string(got) != want {
		t.Errorf("wrote %q, want %q (%v)", got, want, err)
	}
}
