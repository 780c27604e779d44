package describe

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// maxFileName bounds the name in the line of a file, in cells.
const maxFileName = 80

// Part returns a part of a user's message: a file as one line, a text as it is.
func Part(p *protocol.Part) string {
	if p.Text != "" && p.Name == "" && p.URL == "" {
		return p.Text
	}
	size := int64(len(p.Text))
	name := p.Name
	media, data, inline := strings.Cut(strings.TrimPrefix(p.URL, "data:"), ";base64,")
	switch {
	case inline && strings.HasPrefix(p.URL, "data:"):
		size = decodedLen(data)
	case p.URL != "":
		media = ""
		name = cmp.Or(name, path.Base(p.URL))
	}
	return fileLine(p.Type, name, cmp.Or(p.MediaType, media), size, p.Blob)
}

// contentFile returns an image or a file in a tool's output as one line. ok is false for other
// content.
func contentFile(c *protocol.Content) (line string, ok bool) {
	size := c.Bytes
	switch {
	case c.Blob != "":
	case c.Type == "image" || c.Type == "blob":
		var data string
		_ = json.Unmarshal(c.Data, &data) // not base64: the size is not known
		size = decodedLen(data)
	default:
		return "", false
	}
	name := ""
	if c.Path != "" {
		name = path.Base(c.Path)
	}
	return fileLine(c.Type, name, c.MediaType, size, c.Blob), true
}

// fileLine returns "[TYPE NAME · MEDIA TYPE · SIZE · blob ID]" without what is empty.
func fileLine(typ, name, mediaType string, size int64, blob string) string {
	line := strings.TrimSpace(typ + " " + ui.Fit(ui.OneLine(transcript.Clean(name)), maxFileName))
	add := func(s string) {
		if s != "" {
			line += " · " + ui.OneLine(transcript.Clean(s))
		}
	}
	add(ui.Fit(mediaType, maxFileName))
	if size > 0 {
		add(byteSize(size))
	}
	if blob != "" {
		add("blob " + blob)
	}
	return "[" + line + "]"
}

// decodedLen returns the number of bytes of a base64 text.
func decodedLen(data string) int64 {
	return int64(base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(data, "="))))
}

// byteSize returns a size such as "913 bytes", "12 KiB" or "3.4 MiB".
func byteSize(n int64) string {
	switch {
	case n < 1<<10:
		return ui.Count(int(n), "byte")
	case n < 1<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
