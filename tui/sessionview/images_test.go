package sessionview

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/internal/download"
	"agentctl/protocol"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/thumbnail"
	"agentctl/tui/ui"
)

// solidPNG returns a PNG in one colour.
func solidPNG(width, height int) []byte {
	m := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.NRGBA{0x40, 0x80, 0xc0, 0xff}})
	var out bytes.Buffer
	if err := png.Encode(&out, m); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// imagesJournal records turns with an image of the user, of a tool as a blob, and of the agent.
// Lines of text separate them.
func imagesJournal() *tuitest.Journal {
	j := tuitest.NewJournal()
	j.Turn = "t1"
	sketch := base64.StdEncoding.EncodeToString(solidPNG(40, 20))
	j.AddBy(tuitest.Ada, protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{
		MessageID: "m1", Text: "Plot the latencies.", By: &tuitest.Ada, Parts: []protocol.Part{
			{Type: "image", Name: "sketch.png", URL: "data:image/png;base64," + sketch},
			{Type: "file", Name: "numbers.csv", Text: "1,2\n"},
		},
	}})
	j.Text("p1", strings.Repeat("One line.\n\n", 15))
	j.Add(protocol.TextEnd, protocol.PartEndData{Part: "p1"})
	j.Add(protocol.ToolStarted, protocol.ToolStartedData{Tool: "c1", Name: "browser", Title: "take screenshots"})
	j.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Content: []protocol.Content{
		{Type: "image", Name: "shot.png", MediaType: "image/png", Blob: "b_1", Bytes: 900},
		{Type: "image", Name: "rest.png", MediaType: "image/png", Blob: "b_2", Bytes: 900},
	}})
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})
	j.Text("p2", strings.Repeat("Another line.\n\n", 15))
	j.Add(protocol.TextEnd, protocol.PartEndData{Part: "p2"})
	j.Add(protocol.TextContent, protocol.TextContentData{Content: protocol.Content{
		Type: "image", Name: "plot.png", MediaType: "image/png", Data: protocol.MustEncode(solidPNG(30, 30)),
	}})
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	return j
}

// openImages returns a screen that draws images in half blocks.
func openImages(t *testing.T, j *tuitest.Journal, width, height int) *testScreen {
	s := open(t, j, width, height)
	s.m.Styles.Images = thumbnail.NewDisplay(thumbnail.Blocks)
	s.update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
	s.answerBlobs(string(solidPNG(20, 10)), 64)
	return s
}

// loadImages fires the timer of the images.
func (s *testScreen) loadImages() {
	if at := s.m.panels.images.Deadline(); !at.IsZero() {
		s.update(panel.TimerMsg{At: at})
	}
}

// sentImages fires the timer of the images and returns what it writes to the terminal.
func (s *testScreen) sentImages() (sent string) {
	cmd, changed := s.m.panels.images.Update(panel.DueMsg{})
	s.m.canvas.Dirty = s.m.canvas.Dirty || changed
	for _, msg := range tuitest.Messages(cmd) {
		if raw, ok := msg.(tea.RawMsg); ok {
			sent += fmt.Sprint(raw.Msg)
		}
	}
	return sent
}

// blobs returns the blobs that were requested.
func (s *testScreen) blobs() []string {
	var out []string
	for _, c := range s.session.Commands() {
		if d, ok := c.Data.(protocol.BlobData); ok && d.Offset == 0 {
			out = append(out, d.Blob)
		}
	}
	return out
}

// pictureRows returns the rows of the screen with a picture.
func (s *testScreen) pictureRows() (rows []int) {
	for i, line := range strings.Split(ansi.Strip(s.m.View().Content), "\n") {
		if strings.ContainsAny(line, "▀▄") {
			rows = append(rows, i)
		}
	}
	return rows
}

var imageScenes = []goldenScene{
	{
		name: "images",
		open: func(t *testing.T, width, height int) *testScreen {
			s := openImages(t, imagesJournal(), width, height)
			s.loadImages()
			s.press("ctrl+home")
			s.loadImages()
			return s
		},
		heights: [3]int{30, 24, 30},
		shows: []string{
			"Plot the latencies.", "[image sketch.png · 40×20 · image/png", "▀▀▀", "[file numbers.csv", "One line.",
		},
		status: []string{"fix-tests"},
	},
	{
		name: "images_of_a_tool",
		open: func(t *testing.T, width, height int) *testScreen {
			s := openImages(t, imagesJournal(), width, height)
			s.press("shift+tab", "T")
			s.loadImages()
			return s
		},
		heights: [3]int{24, 24, 24},
		shows:   []string{"✓ browser take screenshots", "[image shot.png · image/png", "[image rest.png", "▀▀▀"},
		status:  []string{"fix-tests"},
	},
}

func TestGoldenImages(t *testing.T) { testGoldenScenes(t, imageScenes) }

func TestOnlyImagesOnTheScreenAreLoaded(t *testing.T) {
	s := openImages(t, imagesJournal(), 80, 30)
	if rows := s.pictureRows(); len(rows) > 0 {
		t.Fatalf("pictures in the rows %v before they are loaded", rows)
	}
	s.loadImages()
	if rows := s.pictureRows(); len(rows) != 12 {
		t.Errorf("rows %v, want the 12 of the last image", rows)
	}
	if got := s.blobs(); got != nil {
		t.Errorf("requested the blobs %v, which are not on the screen", got)
	}
	s.press("shift+tab", "T")
	if got := s.blobs(); got != nil {
		t.Errorf("requested the blobs %v while scrolling", got)
	}
	s.loadImages()
	if got := fmt.Sprint(s.blobs()); got != "[b_1 b_2]" {
		t.Errorf("requested the blobs %s, want those of the tool call", got)
	}
	if rows := s.pictureRows(); len(rows) != 5 {
		t.Errorf("rows %v, want the 5 of the first image of a collapsed call", rows)
	}
	s.press("enter")
	s.loadImages()
	if rows := s.pictureRows(); len(rows) != 10 {
		t.Errorf("rows %v, want the 10 of both images", rows)
	}
	if got := s.blobs(); len(got) != 2 {
		t.Errorf("requested %v", got)
	}
}

func TestAPictureIsCutAtTheEdgesOfTheTranscript(t *testing.T) {
	s := openImages(t, imagesJournal(), 80, 24)
	s.press("ctrl+home")
	s.loadImages()
	all := s.pictureRows()
	for cut := 1; cut < len(all); cut++ {
		s.m.transcript.View.List.SetTopLine(s.m.transcript.View.List.First(), all[0]+cut)
		s.update(tea.FocusMsg{})
		s.m.canvas.Dirty = true
		if got := s.pictureRows(); len(got) != len(all)-cut || got[0] != 0 {
			t.Errorf("scrolled by %d of %d rows: rows %v", cut, len(all), got)
		}
	}
}

func TestPicturesFollowTheWidthAndNeverExceedIt(t *testing.T) {
	s := openImages(t, imagesJournal(), 80, 30)
	s.loadImages()
	for _, width := range []int{80, 31, 12, 3, 1, 200} {
		s.update(tea.WindowSizeMsg{Width: width, Height: 30})
		s.loadImages()
		for _, line := range strings.Split(s.m.View().Content, "\n") {
			if n := ansi.StringWidth(line); n > width {
				t.Errorf("at a width of %d a line has %d cells: %q", width, n, line)
			}
		}
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
	s := openImages(t, j, 100, 30)
	s.session.Reply = func(c tuitest.Command) (any, error) {
		return nil, protocol.Errorf(protocol.CodeNotFound, "no such blob")
	}
	s.loadImages()
	s.mustShow("[image a.png · not shown: not a PNG, JPEG or GIF image", "[image b.png · not shown: more than 16.0 MiB",
		"[image c.png · not shown:", "[image d.png · not shown: the session has no content of it")
	if got := fmt.Sprint(s.blobs()); got != "[b_8]" {
		t.Errorf("requested %s, want b_8 only", got)
	}
	s.update(tea.WindowSizeMsg{Width: 90, Height: 30})
	s.loadImages()
	if got := s.blobs(); len(got) != 1 {
		t.Errorf("requested %v", got)
	}
}

func TestImagesWaitForTheConnectionAndForTheScreen(t *testing.T) {
	s := openImages(t, imagesJournal(), 80, 60)
	s.m.SetHidden(true)
	s.loadImages()
	if rows, blobs := s.pictureRows(), s.blobs(); rows != nil || blobs != nil {
		t.Errorf("a hidden view loads pictures (%v) and the blobs %v", rows, blobs)
	}
	s.m.SetHidden(false)
	conn := s.m.replica.Conn
	conn.State = "reconnecting"
	s.m.setConn(conn)
	s.update(tea.WindowSizeMsg{Width: 80, Height: 61})
	s.loadImages()
	if rows, blobs := s.pictureRows(), s.blobs(); rows == nil || blobs != nil {
		t.Errorf("without a connection: pictures in the rows %v, requested %v", rows, blobs)
	}
	conn.State = "connected"
	s.m.setConn(conn)
	s.update(tea.WindowSizeMsg{Width: 80, Height: 62})
	s.loadImages()
	if got := fmt.Sprint(s.blobs()); got != "[b_1 b_2]" {
		t.Errorf("requested %s after the connection returned", got)
	}
}

func TestASessionWithoutImagesHasNoTimerAndNoQuery(t *testing.T) {
	j := tuitest.Conversation()
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
	s.press("ctrl+home", "ctrl+end")
	if !s.m.panels.images.Deadline().IsZero() {
		t.Error("the timer of the images runs")
	}
	if s.m.Styles.Images.Query() == "" {
		t.Error("the terminal has been asked for its graphics")
	}
}

func TestImagesAreLinesWithFewColours(t *testing.T) {
	for _, profile := range []colorprofile.Profile{colorprofile.ANSI, colorprofile.ASCII, colorprofile.NoTTY} {
		s := open(t, imagesJournal(), 80, 60)
		s.update(tea.ColorProfileMsg{Profile: profile})
		s.press("ctrl+home")
		s.loadImages()
		s.mustShow("[image sketch.png · image/png")
		if rows := s.pictureRows(); rows != nil {
			t.Errorf("%v: pictures in the rows %v", profile, rows)
		}
	}
}

func TestTheFirstImageAsksTheTerminalAndKittyGetsIt(t *testing.T) {
	s := open(t, imagesJournal(), 80, 24)
	s.update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
	s.update(tea.WindowSizeMsg{Width: 80, Height: 25})
	display := s.m.Styles.Images
	cmd, _ := s.m.panels.images.Update(panel.DueMsg{})
	if asked := tuitest.Messages(cmd); len(asked) != 1 || asked[0] != (ui.QueryImagesMsg{}) {
		t.Fatalf("messages %v, want a query", asked)
	}
	if display.Query() == "" {
		t.Fatal("no query")
	}
	display.SetName("kitty(0.42.0)")
	display.SetGraphics(31, []byte("OK"))
	display.EndQuery()
	s.update(ui.ImagesChangedMsg{}) // loads
	sent := s.sentImages()
	if !strings.HasPrefix(sent, "\x1b_Ga=T,q=2,f=100,U=1,i=") {
		t.Fatalf("sent %.60q", sent)
	}
	if n := strings.Count(s.m.View().Content, string('\U0010EEEE')); n != 3*2 {
		t.Errorf("%d placeholders, want the cells of an image of 30×30 pixels", n)
	}
	for range 3 { // nothing is sent again
		s.update(tea.WindowSizeMsg{Width: 80, Height: 24})
		if again := s.sentImages(); again != "" {
			t.Errorf("sent again: %.40q", again)
		}
	}
	_ = display.SetMode(thumbnail.Off)
	_ = display.SetMode(thumbnail.UseKitty)
	cmd, _ = s.m.panels.images.Update(panel.DueMsg{})
	s.run(cmd) // loads the image again
	if again := s.sentImages(); !strings.Contains(again, "a=T") {
		t.Errorf("an image that the display does not keep is not loaded again: %.40q", again)
	}
}

func TestAnApprovalHasNoPictures(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "Take a screenshot.")
	shot := protocol.Content{Type: "image", Name: "s.png", Data: protocol.MustEncode(solidPNG(40, 40))}
	j.Tool("c1", protocol.ToolStartedData{Name: "browser", Title: "take a screenshot"}, "")
	j.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Content: []protocol.Content{shot}})
	a := tuitest.CommandApproval()
	a.Tool, a.Command = "c1", "ls \U0010EEEE\u0305\u0305"
	j.RequestApproval(a)
	j.CaughtUp()
	s := openImages(t, j, 100, 50)
	s.loadImages()
	if rows := s.pictureRows(); len(rows) == 0 {
		t.Fatal("the tool call has no picture")
	}
	lines, _ := s.m.panels.decision.Lines(100, 40)
	if all := strings.Join(lines, "\n"); strings.ContainsAny(all, "▀\U0010EEEE") || !strings.Contains(all, "U+10EEEE") {
		t.Errorf("the approval is\n%s", all)
	}
}

func TestAClickOnAPictureOpensTheImage(t *testing.T) {
	s := openImages(t, imagesJournal(), 80, 24)
	s.press("ctrl+home")
	s.loadImages()
	rows := s.pictureRows()
	t.Setenv("TMPDIR", t.TempDir())
	s.m.files.Viewer = &download.Viewer{Command: []string{"agentctl-no-such-opener"}}
	s.update(tea.MouseClickMsg{X: 5, Y: rows[0] - 1, Button: tea.MouseLeft})
	if s.m.status.Text != "" {
		t.Errorf("a click beside it: %s", s.m.status.Text)
	}
	s.update(tea.MouseClickMsg{X: 5, Y: rows[0], Button: tea.MouseLeft})
	s.mustShow("agentctl-no-such-opener is not installed")
}

func TestTheUserChoosesHowImagesAreDrawn(t *testing.T) {
	s := openImages(t, imagesJournal(), 80, 30)
	s.loadImages()
	s.typeText("/images")
	s.press("enter")
	s.mustShow("images", "(•) blocks", "( ) off     as a line of text")
	s.press("down")
	chosen := tuitest.Messages(s.m.Update(tuitest.KeyPress("enter")))
	if len(chosen) == 0 || chosen[0] != (ui.ImagesMsg{Mode: thumbnail.Off}) {
		t.Errorf("got %v, want off", chosen)
	}
	_ = s.m.Styles.Images.SetMode(thumbnail.Off)
	s.update(ui.RestyleMsg{})
	if rows := s.pictureRows(); rows != nil {
		t.Errorf("pictures in the rows %v", rows)
	}
	run := s.m.setImages("KITTY")
	if got := tuitest.Messages(run); len(got) != 1 || got[0] != (ui.ImagesMsg{Mode: thumbnail.UseKitty}) {
		t.Errorf("got %v, want kitty", got)
	}
	if s.m.setImages("sixel"); s.m.status.Text != "no images mode sixel" {
		t.Errorf("status %q", s.m.status.Text)
	}
}
