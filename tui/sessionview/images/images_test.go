package images

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
)

// rig is the images of a transcript that covers the screen.
type rig struct {
	*paneltest.Rig
	images  *Images
	list    *transcript.List
	changed bool // the screen differs from the one drawn last
}

// open returns a rig that shows the events of a journal on a terminal with all colours.
func open(t *testing.T, j *tuitest.Journal, width, height int) *rig {
	t.Helper()
	r := &rig{Rig: paneltest.New(t, j)}
	r.Styles.Update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
	view := transcriptview.New(r.Styles)
	r.list = view.List
	r.list.Resize(width, height)
	r.images = &Images{
		Base:       panel.Base{Styles: r.Styles, Replica: r.Replica, Commands: r.Commands, Now: r.Now},
		Transcript: view,
		Changed:    func() bool { return r.changed },
	}
	r.Rig.Apply = func(e *protocol.Event) {
		if err := view.Apply(e); err != nil && e.Durable() {
			t.Fatal(err)
		}
	}
	r.Rig.Lines = r.list.Lines
	r.Rig.Update = r.update
	r.ApplyJournal()
	r.Session.ReplyToBlobs(string(tuitest.SolidPNG(20, 10)), 64)
	r.draw()
	return r
}

// draw draws a changed screen.
func (r *rig) draw() {
	r.changed = true
	r.images.Deadline()
	r.list.Lines()
	r.changed = false
}

// update handles a message and runs the command that it starts.
func (r *rig) update(msg tea.Msg) { r.finish(r.images.Update(msg)) }

// finish draws what has changed and runs a command.
func (r *rig) finish(cmd tea.Cmd, changed bool) {
	if changed {
		r.draw()
	}
	r.Run(cmd)
}

// load ends the wait for the load of the images on the screen, if there is one.
func (r *rig) load() {
	if !r.images.Deadline().IsZero() {
		r.finish(r.images.Due())
	}
}

// blobs returns the blobs that were requested.
func (r *rig) blobs() (ids []string) {
	for _, c := range r.Session.Commands() {
		if d, ok := c.Data.(protocol.BlobData); ok && d.Offset == 0 {
			ids = append(ids, d.Blob)
		}
	}
	return ids
}

// pictureRows returns the rows of the screen with a picture.
func (r *rig) pictureRows() (rows []int) {
	for i, line := range r.list.Lines() {
		if strings.ContainsAny(ansi.Strip(line), "▀▄") {
			rows = append(rows, i)
		}
	}
	return rows
}

// selectTool selects the last tool call and returns it.
func (r *rig) selectTool(t *testing.T) transcript.ID {
	t.Helper()
	id, ok := r.list.NextAnchor(transcriptview.StepAnchor, r.list.Last(), -1)
	if !ok {
		t.Fatal("no tool call")
	}
	r.list.SelectLine(id, 0)
	r.draw()
	return id
}

func TestOnlyImagesOnTheScreenAreLoaded(t *testing.T) {
	s := open(t, tuitest.ImagesJournal(), 80, 30)
	if rows := s.pictureRows(); len(rows) > 0 {
		t.Fatalf("pictures in the rows %v before they are loaded", rows)
	}
	s.load()
	if rows := s.pictureRows(); len(rows) != 12 {
		t.Errorf("rows %v, want the 12 of the last image", rows)
	}
	if got := s.blobs(); got != nil {
		t.Errorf("requested the blobs %v, which are not on the screen", got)
	}
	tool := s.selectTool(t)
	if got := s.blobs(); got != nil {
		t.Errorf("requested the blobs %v while scrolling", got)
	}
	s.load()
	if got := fmt.Sprint(s.blobs()); got != "[b_1 b_2]" {
		t.Errorf("requested the blobs %s, want b_1 and b_2", got)
	}
	if rows := s.pictureRows(); len(rows) != 5 {
		t.Errorf("rows %v, want the 5 of the first image of a collapsed call", rows)
	}
	s.list.SetCollapsed(tool, false)
	s.draw()
	s.load()
	if rows := s.pictureRows(); len(rows) != 10 {
		t.Errorf("rows %v, want the 10 of both images", rows)
	}
	if got := s.blobs(); len(got) != 2 {
		t.Errorf("requested %v", got)
	}
}

func TestAnImageThatCannotBeDrawnIsALine(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "Plot it.")
	content := func(c protocol.Content) {
		c.Type = "image"
		j.Add(protocol.TextContent, protocol.TextContentData{Content: c})
	}
	content(protocol.Content{Name: "a\x1b]0;x\x07.png", Data: protocol.MustEncode([]byte("no image"))})
	content(protocol.Content{Name: "b.png", Blob: "b_9", Bytes: 1 << 40})
	content(protocol.Content{Name: "c.png", Blob: "b_8"})
	content(protocol.Content{Name: "d.png", Data: []byte("12")})
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	s := open(t, j, 100, 30)
	s.Session.Reply = func(c tuitest.Command) (any, error) {
		return nil, protocol.Errorf(protocol.CodeNotFound, "no such blob")
	}
	s.load()
	s.MustShow("[image a.png · not shown: not a PNG, JPEG, GIF or WebP image", "[image b.png · not shown: more than 16.0 MiB",
		"[image c.png · not shown:", "[image d.png · not shown: the session has no content of it")
	if got := fmt.Sprint(s.blobs()); got != "[b_8]" {
		t.Errorf("requested %s, want b_8 only", got)
	}
	s.list.Resize(90, 30)
	s.draw()
	s.load()
	if got := s.blobs(); len(got) != 1 {
		t.Errorf("requested %v", got)
	}
}

func TestImagesWaitForTheConnectionAndForTheScreen(t *testing.T) {
	s := open(t, tuitest.ImagesJournal(), 80, 60)
	s.images.Hidden = true
	s.load()
	if rows, blobs := s.pictureRows(), s.blobs(); rows != nil || blobs != nil {
		t.Errorf("a hidden view loads pictures (%v) and the blobs %v", rows, blobs)
	}
	s.images.Hidden = false
	s.Connect(remote.Reconnecting)
	s.draw()
	s.load()
	if rows, blobs := s.pictureRows(), s.blobs(); rows == nil || blobs != nil {
		t.Errorf("without a connection: pictures in the rows %v, requested %v", rows, blobs)
	}
	s.Connect(remote.Connected)
	s.draw()
	s.load()
	if got := fmt.Sprint(s.blobs()); got != "[b_1 b_2]" {
		t.Errorf("requested %s after the connection returned", got)
	}
}

func TestASessionWithoutImagesHasNoTimer(t *testing.T) {
	j := tuitest.Conversation()
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.list.ScrollToTop()
	s.draw()
	s.list.ScrollToBottom()
	s.draw()
	if !s.images.Deadline().IsZero() {
		t.Error("the timer of the images runs")
	}
}
