package sessionview

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/internal/download"
	"agentctl/protocol"
)

// filesJournal records a turn with files of the user, of a tool and of the agent.
func filesJournal() *tuitest.Journal {
	j := tuitest.NewJournal()
	j.Turn = "t1"
	j.AddBy(tuitest.Ada, protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{
		MessageID: "m1", Text: "Plot the latencies.", By: &tuitest.Ada,
		Parts: []protocol.Part{{Type: "image", Name: "sketch.png", URL: "data:image/png;base64,iVBORw0KGgo="}},
	}})
	j.Add(protocol.ToolStarted, protocol.ToolStartedData{Tool: "c1", Name: "shell", Title: "plot latencies.csv"})
	j.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Content: []protocol.Content{
		{Type: "image", MediaType: "image/png", Blob: "b_1", Bytes: 50_000},
		{Type: "audio", MediaType: "audio/wav", Blob: "b_2", Bytes: 90},
	}})
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})
	content := func(c protocol.Content) {
		j.Add(protocol.TextContent, protocol.TextContentData{Content: c})
	}
	content(protocol.Content{
		Type: "image", Name: "../../.ba\u202eshrc", MediaType: "image/png", Blob: "b_3", Bytes: 8,
		Data: protocol.MustEncode([]byte("\x89PNG\r\n\x1a\n")),
	})
	j.Text("p1", "The plot is above, the numbers are below.")
	j.Add(protocol.TextEnd, protocol.PartEndData{Part: "p1"})
	content(protocol.Content{Type: "text", Path: "file:///tmp/numbers.csv", Text: "a,b\n1,2\n", MediaType: "text/csv"})
	content(protocol.Content{Type: "link", Name: "the docs", Path: "https://example.org/docs"})
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	return j
}

var fileScenes = []goldenScene{
	{
		name:    "files",
		open:    fromJournal(filesJournal),
		heights: [3]int{50, 30, 40},
		shows: []string{
			"Plot the latencies.", "[image sketch.png · image/png", "[image · image/png · 48 KiB",
			"[audio · audio/wav · 90 bytes", "agent 09:41", "[image ../../.bashrc · image/png",
			"The plot is above", "[text numbers.csv · text/csv", "[link the docs · https://example.org/docs]",
		},
		status: []string{"fix-tests"},
	},
}

func TestGoldenFiles(t *testing.T) { testGoldenScenes(t, fileScenes) }

// openFiles returns a screen of the journal of files with the focus on the last item.
func openFiles(t *testing.T) *testScreen {
	s := open(t, filesJournal(), 80, 30)
	t.Chdir(t.TempDir())
	s.press("shift+tab")
	return s
}

func TestAFileOfTheAgentIsSavedUnderItsBaseName(t *testing.T) {
	s := openFiles(t)
	s.press("home", "down", "down", "w") // the image ../../.bashrc, in the event
	s.mustShow("save file", "path bashrc")
	s.press("enter")
	s.mustShow("saved bashrc, 8 bytes")
	s.mustSendNothing()
	if b, err := os.ReadFile("bashrc"); string(b) != "\x89PNG\r\n\x1a\n" {
		t.Errorf("saved %q, %v", b, err)
	}
}

func TestAFileIsNotReplacedWithoutAnAnswer(t *testing.T) {
	s := openFiles(t)
	if err := os.WriteFile("bashrc", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	content := func() string {
		b, _ := os.ReadFile("bashrc")
		return string(b)
	}
	s.press("home", "down", "down", "w", "enter")
	s.mustShow("bashrc exists", "replace it? yes")
	s.press("enter")
	s.mustShow("not saved: bashrc exists")
	s.press("w", "enter", "esc")
	if got := content(); got != "mine" {
		t.Fatalf("replaced by %q", got)
	}
	s.press("w", "enter")
	s.typeText("yes")
	s.press("enter")
	s.mustShow("saved bashrc")
	if got := content(); got == "mine" {
		t.Error("not replaced")
	}
}

func TestAFileOfAToolIsChosenAndFetched(t *testing.T) {
	s := openFiles(t)
	s.session.ReplyToBlobs("RIFF\x00\x00\x00\x00WAVE and more", 7)
	s.press("home", "down", "w")
	s.mustShow("which file?", "▸ [image · image/png · 48 KiB", "[audio · audio/wav")
	s.press("down", "enter")
	s.mustShow("path file.wav")
	s.typeText(".x")
	s.press("enter")
	if b, err := os.ReadFile("file.wav.x"); !strings.HasSuffix(string(b), "and more") {
		t.Errorf("saved %q, %v", b, err)
	}
}

func TestOnlyContentDecidesWhetherAFileIsOpened(t *testing.T) {
	s := openFiles(t)
	seen := filepath.Join(t.TempDir(), "seen")
	s.m.files.Viewer = &download.Viewer{Command: []string{"sh", "-c", `basename "$1" >` + seen, "sh"}}
	t.Cleanup(func() { _ = s.m.files.Viewer.Close() })
	s.press("home", "down", "down", "o") // image/png with the content of one
	if b, _ := os.ReadFile(seen); string(b) != "file-1.png\n" {
		t.Errorf("opened %q", b)
	}
	_ = os.Remove(seen)
	s.session.ReplyToBlobs("<html><script>alert(1)</script>", 1000)
	s.press("up", "o", "enter") // image/png with HTML
	s.mustShow("not opened: the content is text/html")
	if _, err := os.Stat(seen); err == nil {
		t.Error("HTML is opened")
	}
}

func TestALinkOfTheAgentIsNeitherOpenedNorSaved(t *testing.T) {
	s := openFiles(t)
	s.press("end", "up")
	for _, key := range []string{"w", "o"} {
		s.press(key)
		s.mustShow("it is a link, not a file: https://example.org/docs")
	}
	s.press("C")
	s.mustShow("copied the address")
	s.press("end", "w")
	s.mustShow("there is no file in it")
	s.mustSendNothing()
}
