package transcriptview

import (
	"cmp"
	"fmt"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Text returns the text of an item, to search.
func Text(item transcript.Item) string {
	switch item := item.(type) {
	case *userMessage:
		return item.message.Text
	case *steeredMessage:
		return item.message.Text
	case *agentMessage:
		return string(item.item.Text)
	case *reasoning:
		return string(item.item.Text)
	case *toolCall:
		return item.text()
	case *approvalItem:
		if item.item.Approval != nil {
			return cmp.Or(item.item.Approval.Action(), item.item.Approval.Title)
		}
	case *messageFile:
		return describe.MessageContent(&item.content)
	case *Checklist:
		return item.text()
	case *note:
		return item.text
	}
	return ""
}

// Results returns the text of an item without the arguments of a tool call, which its title sums up.
func Results(item transcript.Item) string {
	if call, ok := item.(*toolCall); ok {
		return call.results()
	}
	return Text(item)
}

// Collapsible reports whether an item can be collapsed.
func Collapsible(item transcript.Item) bool {
	switch item := item.(type) {
	case *reasoning, *toolCall, *Checklist:
		return true
	case *agentMessage:
		return item.item.Task != ""
	}
	return false
}

// IsAgentText reports whether an item is a text of the agent.
func IsAgentText(item transcript.Item) bool {
	_, ok := item.(*agentMessage)
	return ok
}

// IsTurnEnd reports whether an item is the end of a turn.
func IsTurnEnd(item transcript.Item) bool {
	n, ok := item.(*note)
	return ok && n.turnEnd
}

// IsToolCall reports whether an item is a tool call.
func IsToolCall(item transcript.Item) bool {
	_, ok := item.(*toolCall)
	return ok
}

// Request returns the request of an approval, or nil. Its Approval is nil if the transcript begins after
// it.
func Request(item transcript.Item) *protocol.Item {
	if a, ok := item.(*approvalItem); ok {
		return a.item
	}
	return nil
}

// SubAgent returns the session of the sub-agent that a tool call stands for, or "".
func SubAgent(item transcript.Item) string {
	if call, ok := item.(*toolCall); ok {
		return call.item.Tool.Session
	}
	return ""
}

// CopyText returns the text to copy from an item and what to call it. For a tool call it is the
// output, or the arguments if there is no output.
func CopyText(item transcript.Item) (name, text string) {
	switch item := item.(type) {
	case *userMessage, *agentMessage:
		return "the message", Text(item)
	case *messageFile:
		if item.content.Type == "link" {
			return "the address", item.content.Path
		}
	case *reasoning:
		return "the reasoning", Text(item)
	case *toolCall:
		if output := item.outputText(); output != "" {
			return "the output", output
		}
		return "the call", item.arguments()
	}
	return "the item", Text(item)
}

// Code returns the code blocks of an item, and a function that names the block with index i. For a
// tool call the code is the arguments, for an approval the command.
func Code(item transcript.Item) (blocks []string, name func(i int) string) {
	fixed := func(name string) func(int) string { return func(int) string { return name } }
	switch item := item.(type) {
	case *userMessage, *agentMessage, *reasoning:
		blocks = transcript.CodeBlocks(transcript.Clean(Text(item)))
	case *toolCall:
		return []string{item.arguments()}, fixed("the call")
	case *approvalItem:
		if a := item.item.Approval; a != nil && a.Command != "" {
			return []string{a.Command}, fixed("the command")
		}
		return []string{Text(item)}, fixed("the request")
	}
	if len(blocks) == 1 {
		return blocks, fixed("the code")
	}
	return blocks, func(i int) string { return fmt.Sprintf("code block %d of %d", i+1, len(blocks)) }
}

// OpenItem returns a pager with the whole of a tool call. ok is false for other items.
func OpenItem(s *ui.Styles, item transcript.Item) (p *ui.Pager, ok bool) {
	call, ok := item.(*toolCall)
	if !ok {
		return nil, false
	}
	return ui.NewPager(s, call.plainTitle(), call.pagerItems()...), true
}
