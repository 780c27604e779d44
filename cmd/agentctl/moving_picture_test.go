//go:build unix

package main

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/dev/screenshot"
	"agentctl/protocol"
	"agentctl/tui"
	"agentctl/tui/ui"
	"agentctl/wsclient"
)

// movingPicture is what a user types in the moving picture of the documents, and when.
var movingPicture = []struct {
	keys  string // one in a frame
	pause int    // number of frames after them
	still bool   // the last of these frames is what a program without animations shows
}{
	{pause: 8},
	{keys: "find the race in pkg/store", pause: 3},
	{keys: "\r", pause: 19},
	{keys: "then update the changelog", pause: 3},
	{keys: "\r", pause: 29},
	{keys: "\t", pause: 16, still: true},
	{keys: "y", pause: 56},
}

const (
	pictureColumns = 90
	pictureRows    = 26
	maxPicture     = 250 << 10 // bytes
	frameTime      = 100 * time.Millisecond
)

// TestTheMovingPictureIsOfThisProgram plays a session in a synctest bubble and compares the frames of
// the screen with the moving picture of the documents. After a change of the screen, redraw it and
// watch it in a browser:
//
//	go test ./cmd/agentctl -run Picture -draw
func TestTheMovingPictureIsOfThisProgram(t *testing.T) {
	startSignals()
	var r recording
	synctest.Test(t, func(t *testing.T) { r.record(t) })
	frames := r.frames(t)
	var got strings.Builder
	paper := dark
	paper.Title = "A session: text streams, a command runs, a patch is allowed with y, a queued message follows"
	if err := screenshot.WriteAnimation(&got, frames, r.still, paper); err != nil {
		t.Fatal(err)
	}
	if got.Len() > maxPicture {
		t.Errorf("the picture has %d bytes", got.Len())
	}
	comparePicture(t, "tour", got.String())
}

// A recording is the output to a terminal, and how much of it was there at the end of each frame.
type recording struct {
	output []byte
	ends   []int
	still  int // number of the frame that is shown without animations
}

// record plays the moving picture on the screen of a session.
func (r *recording) record(t *testing.T) {
	time.Sleep(9*time.Hour + 41*time.Minute) // 09:41
	c := newClient(t, startScript(t, "moving_picture.script"), "ada")
	defer c.Close()
	made, err := wsclient.Call[protocol.CreateResult](t.Context(), c, protocol.DoCreate, "",
		protocol.CreateData{Name: "fix-race", Agent: "claude"})
	if err != nil {
		t.Fatal(err)
	}
	size := tui.Size{Width: pictureColumns, Height: pictureRows}
	typing, output, leave := openScreen(t, c, made.Session, ui.ThemeDark, size)
	defer leave()
	// All delays of the script are whole frames. The clock of the screen ticks 20 ms after the start of
	// a frame. What a frame shows has been drawn long before its 70th millisecond.
	time.Sleep(11*frameTime - 20*time.Millisecond)
	frame := func(key string) {
		press(t, typing, key)
		time.Sleep(frameTime * 7 / 10)
		synctest.Wait()
		r.ends = append(r.ends, len(output.Bytes()))
		time.Sleep(frameTime * 3 / 10)
	}
	for _, p := range movingPicture {
		for _, key := range p.keys {
			frame(string(key))
		}
		for range p.pause {
			frame("")
		}
		if p.still {
			r.still = len(r.ends) - 1
		}
	}
	r.output = output.Bytes()
}

// press types a key, if there is one.
func press(t *testing.T, typing io.Writer, key string) {
	t.Helper()
	if key == "" {
		return
	}
	if _, err := io.WriteString(typing, key); err != nil {
		t.Fatal(err)
	}
}

// frames returns the screens of the recording.
func (r *recording) frames(t *testing.T) (frames []screenshot.Frame) {
	terminal := screenshot.NewTerminal(pictureColumns, pictureRows)
	defer terminal.Close()
	from := 0
	for _, end := range r.ends {
		if _, err := terminal.Write(r.output[from:end]); err != nil {
			t.Fatal(err)
		}
		from = end
		s := terminal.Screen()
		maskIDs(s)
		frames = append(frames, screenshot.Frame{Screen: s, Time: frameTime})
	}
	return frames
}
