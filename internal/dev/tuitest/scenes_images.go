package tuitest

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"strings"

	"agentctl/protocol"
)

// SolidPNG returns a PNG in one colour.
func SolidPNG(width, height int) []byte {
	m := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.NRGBA{0x40, 0x80, 0xc0, 0xff}})
	var out bytes.Buffer
	if err := png.Encode(&out, m); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// ImagesJournal records turns with an image of the user, of a tool as a blob, and of the agent.
// Lines of text separate them.
func ImagesJournal() *Journal {
	j := NewJournal()
	j.Turn = "t1"
	sketch := base64.StdEncoding.EncodeToString(SolidPNG(40, 20))
	j.AddBy(Ada, protocol.MessageUser, protocol.MessageUserData{Message: protocol.Message{
		MessageID: "m1", Text: "Plot the latencies.", By: &Ada, Parts: []protocol.Part{
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
		Type: "image", Name: "plot.png", MediaType: "image/png", Data: protocol.MustEncode(SolidPNG(30, 30)),
	}})
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	return j
}
