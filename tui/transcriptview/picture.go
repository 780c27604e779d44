package transcriptview

import (
	"fmt"
	"slices"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/thumbnail"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// maxPictures bounds the pictures of an item.
const maxPictures = 8

// Picture is an image of an item. Its owner loads the thumbnail while the item is on the screen.
type Picture struct {
	Index     int // of its file in Files
	Thumbnail *thumbnail.Thumbnail
	Loading   bool
	Problem   string // why it cannot be drawn; "": no reason is known

	source pictureSource
}

// pictureSource identifies the content of a picture.
type pictureSource struct {
	blob string
	data *byte
}

// note returns what the line of the image says of it.
func (p *Picture) note() string {
	switch {
	case p.Problem != "":
		return "not shown: " + p.Problem
	case p.Thumbnail != nil:
		return fmt.Sprintf("%d×%d", p.Thumbnail.Width, p.Thumbnail.Height)
	}
	return ""
}

// lines returns the lines of a picture at a width, without margin.
func (p *Picture) lines(styles *ui.Styles, width int) []string {
	if p.Thumbnail == nil || !styles.Images.Draws() {
		return nil
	}
	lines := p.Thumbnail.Lines(width)
	for i := range lines {
		lines[i] = transcript.Picture(lines[i])
	}
	return lines
}

// pictures are the images of an item.
type pictures []*Picture

// find returns the picture of a file, or nil.
func (p pictures) find(file int) *Picture {
	i := slices.IndexFunc(p, func(p *Picture) bool { return p.Index == file })
	if i < 0 {
		return nil
	}
	return p[i]
}

// partPictures returns the images among the parts of a message.
func partPictures(parts []protocol.Part) pictures {
	var out pictures
	file := 0
	for i := range parts {
		f, ok := describe.PartFile(&parts[i])
		if ok && f.IsImage() && len(out) < maxPictures {
			out = append(out, &Picture{Index: file})
		}
		if ok {
			file++
		}
	}
	return out
}

// update replaces the pictures by those in the content of a tool call. Pictures of the same content
// stay.
func (p pictures) update(content []protocol.Content) pictures {
	if !slices.ContainsFunc(content, mayBeImage) {
		return nil
	}
	var out pictures
	file := 0
	for i := range content {
		f, ok := describe.ContentFile(&content[i])
		if ok && f.IsImage() && len(out) < maxPictures {
			source := pictureSource{content[i].Blob, first(content[i].Data)}
			picture := p.find(file)
			if picture == nil || picture.source != source {
				picture = &Picture{Index: file, source: source}
			}
			out = append(out, picture)
		}
		if ok {
			file++
		}
	}
	return out
}

// mayBeImage reports whether a content is an image or another file. It costs O(1).
func mayBeImage(c protocol.Content) bool {
	f := describe.File{Kind: c.Type, MediaType: c.MediaType}
	return f.IsImage()
}

// Pictures returns the images of an item.
func Pictures(item transcript.Item) []*Picture {
	switch item := item.(type) {
	case *userMessage:
		return item.pictures
	case *messageFile:
		return item.pictures
	case *toolCall:
		return item.pictures
	}
	return nil
}

// notePictures records whether an item has an image.
func (v *View) notePictures(item transcript.Item) {
	if call, ok := item.(*toolCall); ok { // its pictures are made when it is drawn
		v.HasPictures = v.HasPictures || slices.ContainsFunc(call.item.Tool.Content, mayBeImage)
		return
	}
	v.HasPictures = v.HasPictures || len(Pictures(item)) > 0
}
