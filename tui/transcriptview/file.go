package transcriptview

import (
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// messageFile is an image or another file in the agent's message. It has no heading when it
// continues the message before.
type messageFile struct {
	itemAnchor
	styles  *ui.Styles
	content protocol.Content
	heading heading
}

// Estimate implements transcript.Item.
func (m *messageFile) Estimate(int, bool) int { return 2 }

// Block implements transcript.Item.
func (m *messageFile) Block(width int, _ bool) transcript.Block {
	text := transcript.NewText()
	text.Append(describe.MessageContent(&m.content))
	return agentBlock(m.styles, m.heading, text, width)
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
