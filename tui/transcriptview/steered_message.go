package transcriptview

import (
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// steeredMessage is a message that joined the turn. Its state is below it until the agent took it in.
type steeredMessage struct{ userMessage }

// newSteered returns the list item of a message that joined the turn. The next text of the agent gets a
// heading.
func (v *View) newSteered(it *protocol.Item, e *protocol.Event) *steeredMessage {
	v.speaker = ""
	m := it.Steered.Message
	head := heading{remote.ActorName(it.By), "into the turn · " + v.styles.Clock(e.Time)}
	return &steeredMessage{userMessage{
		itemAnchor: itemAnchor{0, it.Seq, it}, styles: v.styles, message: m, heading: head,
		pictures: partPictures(m.Parts),
	}}
}

// Block implements transcript.Item.
func (m *steeredMessage) Block(width int, collapsed bool) transcript.Block {
	b := m.userMessage.Block(width, collapsed)
	state := m.item.Steered
	text, style := "⇢ "+describe.Steered(state), &m.styles.Dim
	switch state.Outcome {
	case protocol.SteerTakenIn:
		if state.Reason == "" {
			return b
		}
	case protocol.SteerRefused, protocol.SteerUnknown:
		text, style = "⊘ "+describe.Steered(state), &m.styles.Warning
	}
	b.Footer = []string{"   " + style.Render(ui.Fit(transcript.Clean(text), width-ui.Indent))}
	return b
}
