package thumbnail

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/kitty"
)

// The pixels of a cell, as far as they are needed: the terminal scales an image to its cells.
var (
	cellPixels   = size{10, 20} // that decide how many cells a small image takes
	sharpPixels  = size{16, 32} // that are sent for a cell at most
	maxSentBytes = 96 << 10     // of a PNG that is sent
)

// queryID is the image ID of the query. The terminal keeps no image of it.
const queryID = 31

// kittyQuery asks whether the terminal has the graphics protocol, and then for its name and its
// device attributes. Every terminal answers the last one, so no answer to the first one before it
// means no.
var kittyQuery = ansi.KittyGraphics([]byte("AAAA"), "i="+strconv.Itoa(queryID), "s=1", "v=1", "a=q", "t=d", "f=24") +
	ansi.RequestNameVersion + ansi.RequestPrimaryDeviceAttributes

// hasPlaceholders reports whether the terminal of a name draws the graphics protocol by Unicode
// placeholders. The protocol has no query for them, and terminals without them have the rest of it.
func hasPlaceholders(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "kitty") || strings.HasPrefix(name, "ghostty")
}

// encodePNG returns an image as a PNG of at most maxSentBytes. It reduces the image as far as that
// takes.
func encodePNG(m *image.NRGBA) ([]byte, error) {
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	for {
		var out bytes.Buffer
		if err := encoder.Encode(&out, m); err != nil {
			return nil, fmt.Errorf("encode thumbnail: %w", err)
		}
		width, height := m.Rect.Dx(), m.Rect.Dy()
		if out.Len() <= maxSentBytes || min(width, height) < 2 {
			return out.Bytes(), nil
		}
		m = reduce(m, size{width * 3 / 4, height * 3 / 4})
	}
}

// transmit returns the sequences that send a PNG to the terminal and place it in cells, to be drawn
// where placeholders of its ID are. The terminal answers nothing.
func transmit(id int, png []byte, cells size) string {
	keys := []string{
		"a=T", "q=2", "f=100", "U=1", "i=" + strconv.Itoa(id),
		"c=" + strconv.Itoa(cells.width), "r=" + strconv.Itoa(cells.height),
	}
	payload := base64.StdEncoding.AppendEncode(nil, png)
	var out strings.Builder
	for {
		chunk := payload[:min(len(payload), kitty.MaxChunkSize)]
		if payload = payload[len(chunk):]; len(payload) == 0 {
			out.WriteString(ansi.KittyGraphics(chunk, append(keys, "m=0")...))
			return out.String()
		}
		out.WriteString(ansi.KittyGraphics(chunk, append(keys, "m=1")...))
		keys = []string{"q=2"}
	}
}

// remove returns the sequence that deletes an image and its data from the terminal.
func remove(id int) string {
	return ansi.KittyGraphics(nil, "a=d", "d=I", "q=2", "i="+strconv.Itoa(id))
}

// placeholderLines returns the placeholders of an image. The colour is its ID. Each cell names its
// row and column, so that a part of a line shows its part of the image.
func placeholderLines(id int, cells size) []string {
	colour := fmt.Sprintf("\x1b[38;2;%d;%d;%dm", id>>16&0xff, id>>8&0xff, id&0xff)
	lines := make([]string, cells.height)
	for row := range lines {
		var out strings.Builder
		out.WriteString(colour)
		for col := range cells.width {
			out.WriteRune(kitty.Placeholder)
			out.WriteRune(kitty.Diacritic(row))
			out.WriteRune(kitty.Diacritic(col))
		}
		out.WriteString("\x1b[m")
		lines[row] = out.String()
	}
	return lines
}
