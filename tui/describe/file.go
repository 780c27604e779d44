package describe

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"path"
	"strings"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// maxFileName bounds a name or an address in the line of a file, in cells.
const maxFileName = 80

// maxOpened bounds the name of a file in a hint, in cells.
const maxOpened = 40

// File is an image or another file in a session, or a link. Its words come from its sender and
// not to be trusted.
type File struct {
	Kind      string // image, audio, blob, file, text or link
	Name      string
	Link      string // the address that a link names
	MediaType string
	Size      int64  // in bytes; 0: unknown
	Blob      string // the id of the blob with its bytes; "": none
	Note      string // of the screen, such as the size of an image; "": none
	text      string // the content, if text
	base64    string // the content, else
}

// PartFile returns the file of a part. ok is false for a part that is text.
func PartFile(p *protocol.Part) (f File, ok bool) {
	if p.Text != "" && p.Name == "" && p.URL == "" {
		return File{}, false
	}
	f = File{Kind: p.Type, Name: p.Name, Blob: p.Blob, text: p.Text, Size: int64(len(p.Text))}
	media, data, inline := strings.Cut(strings.TrimPrefix(p.URL, "data:"), ";base64,")
	switch {
	case inline && strings.HasPrefix(p.URL, "data:"):
		f.base64, f.Size = data, decodedLen(data)
	case p.URL != "":
		media = ""
		f.Name, f.Link = cmp.Or(f.Name, path.Base(p.URL)), p.URL
	}
	f.MediaType = cmp.Or(p.MediaType, media)
	return f, true
}

// ContentFile returns the file of a content of an agent. ok is false for other content.
func ContentFile(c *protocol.Content) (f File, ok bool) {
	f = File{Kind: c.Type, Name: c.Name, MediaType: c.MediaType, Blob: c.Blob, Size: c.Bytes}
	if f.Name == "" && c.Path != "" {
		f.Name = path.Base(c.Path)
	}
	switch c.Type {
	case "image", "audio", "blob":
		_ = json.Unmarshal(c.Data, &f.base64) // not base64: the size is not known
		f.Size = cmp.Or(f.Size, decodedLen(f.base64))
	case "link":
		f.Link = c.Path
		if f.Name == path.Base(c.Path) {
			f.Name = ""
		}
	case "text":
		f.text = c.Text
		f.Size = cmp.Or(f.Size, int64(len(c.Text)))
		return f, c.Path != ""
	default:
		return f, c.Blob != ""
	}
	return f, true
}

// IsImage reports whether a file is said to be an image that the session has.
func (f *File) IsImage() bool {
	return f.Link == "" && (f.Kind == "image" || strings.HasPrefix(f.MediaType, "image/"))
}

// Inline reports whether the content of a file is in the event itself.
func (f *File) Inline() bool { return f.text != "" || f.base64 != "" }

// Content returns the bytes of a file that is in the event itself. It returns nil if they are a
// blob, or elsewhere.
func (f *File) Content() ([]byte, error) {
	if f.text != "" {
		return []byte(f.text), nil
	}
	if f.base64 == "" {
		return nil, nil
	}
	data, err := base64.StdEncoding.DecodeString(f.base64)
	if err != nil {
		return nil, errors.New("the file is not base64")
	}
	return data, nil
}

// Line returns "[KIND NAME · NOTE · LINK · MEDIA TYPE · SIZE]" without what is empty.
func (f *File) Line() string {
	line := strings.TrimSpace(f.Kind + " " + ui.Fit(transcript.CleanLine(f.Name), maxFileName))
	add := func(s string) {
		if s != "" {
			line += " · " + transcript.CleanLine(s)
		}
	}
	add(f.Note)
	if f.Kind == "link" {
		add(ui.Fit(f.Link, maxFileName))
	}
	add(ui.Fit(f.MediaType, maxFileName))
	if f.Size > 0 {
		add(format.Size(f.Size))
	}
	return "[" + line + "]"
}

// Opens returns what opening files does: it opens the file with a name, or else of a kind and a media
// type, or shows the address of a link.
func Opens(files []File) string {
	if len(files) > 1 {
		return "opens one of " + format.Count(len(files), "file")
	}
	f, does := &files[0], "opens "
	if f.Link != "" && f.Blob == "" && !f.Inline() {
		does = "shows "
	}
	what := cmp.Or(f.Name, f.Link, strings.TrimSpace(f.Kind+" "+f.MediaType))
	return does + ui.Fit(transcript.CleanLine(what), maxOpened)
}

// Part returns a part of a user's message: a file as one line, a text as it is.
func Part(p *protocol.Part) string {
	if f, ok := PartFile(p); ok {
		return f.Line()
	}
	return p.Text
}

// MessageContent returns a content of an agent's message as one line.
func MessageContent(c *protocol.Content) string {
	f, _ := ContentFile(c)
	return f.Line()
}

// decodedLen returns the number of bytes of a base64 text.
func decodedLen(data string) int64 {
	return int64(base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(data, "="))))
}
