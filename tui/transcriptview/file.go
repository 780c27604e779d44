package transcriptview

import (
	"slices"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// messageFile is an image or another file in the agent's message. It has no heading when it
// continues the message before.
type messageFile struct {
	itemAnchor
	styles   *ui.Styles
	content  protocol.Content
	heading  heading
	pictures pictures
}

// newMessageFile returns the item of a content of the agent.
func newMessageFile(styles *ui.Styles, content protocol.Content, heading heading) *messageFile {
	contents := []protocol.Content{content}
	return &messageFile{styles: styles, content: content, heading: heading, pictures: pictures(nil).update(contents)}
}

// Estimate implements transcript.Item.
func (m *messageFile) Estimate(int, bool) int { return 2 }

// Block implements transcript.Item.
func (m *messageFile) Block(width int, _ bool) transcript.Block {
	file, _ := describe.ContentFile(&m.content)
	for _, p := range m.pictures {
		file.Note = p.note()
	}
	text := transcript.NewText()
	text.Append(file.Line())
	b := agentBlock(m.styles, m.heading, text, width)
	for _, p := range m.pictures {
		b.Body = append(slices.Clip(b.Body), p.lines(m.styles, width-ui.Indent)...)
		b.Bytes = 0
	}
	return b
}

// Locations returns the places in files that an item reports beside its text.
func Locations(item transcript.Item) []protocol.Location {
	if call, ok := item.(*toolCall); ok {
		return call.item.Tool.Locations
	}
	return nil
}

// Files returns the images, files and links of an item, in the order of its lines.
func Files(item transcript.Item) []describe.File {
	var out []describe.File
	add := func(f describe.File, ok bool) {
		if ok {
			out = append(out, f)
		}
	}
	switch item := item.(type) {
	case *userMessage:
		for i := range item.message.Parts {
			add(describe.PartFile(&item.message.Parts[i]))
		}
	case *messageFile:
		add(describe.ContentFile(&item.content))
	case *toolCall:
		for i := range item.item.Tool.Content {
			add(describe.ContentFile(&item.item.Tool.Content[i]))
		}
	}
	return out
}
