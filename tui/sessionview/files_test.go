package sessionview

import (
	"testing"

	"agentctl/internal/tuitest"
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
			"▎ Plot the latencies.", "[image sketch.png · image/png", "[image · image/png · 48 KiB",
			"[audio · audio/wav · 90 bytes", "agent · 09:41", "[image ../../.bashrc · image/png",
			"The plot is above", "[text numbers.csv · text/csv", "[link the docs · https://example.org/docs]",
		},
		status: []string{"fix-tests"},
	},
}

func TestGoldenFiles(t *testing.T) { testGoldenScenes(t, fileScenes) }
