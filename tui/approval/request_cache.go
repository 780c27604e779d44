package approval

import (
	"agentctl/protocol"
	"agentctl/tui/filechange"
	"agentctl/tui/transcript"
)

// requestCache caches the layout of a request.
type requestCache struct {
	changes *filechange.Changes
	known   bool   // changes and parsed are those of patch
	patch   string // patch that changes was made from
	parsed  bool   // whether patch has diff syntax

	markdown map[string]*transcript.Markdown // by text; see Passage.markdownText
}

// update returns the changes of a request, or nil. It recomputes them if the patch is a new one.
func (c *requestCache) update(r *protocol.Approval) *filechange.Changes {
	if !c.known || c.patch != r.Patch {
		c.known, c.patch = true, r.Patch
		c.changes, c.parsed = changesOf(r)
	}
	return c.changes
}

// markdownOf returns a passage as Markdown, or nil if it is shown as text.
func (c *requestCache) markdownOf(p *Passage) *transcript.Markdown {
	if !p.markdown {
		return nil
	}
	text, ok := c.markdown[p.Text]
	if !ok {
		text = p.markdownText()
		if c.markdown == nil {
			c.markdown = map[string]*transcript.Markdown{}
		}
		c.markdown[p.Text] = text
	}
	return text
}
