package acp

import (
	"cmp"
	"encoding/json"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/acp/catalog"
)

// Types of protocol.Content.
const (
	contentText  = "text"
	contentDiff  = "diff"
	contentImage = "image"
	contentAudio = "audio"
	contentBlob  = "blob"
	contentLink  = "link"
	contentOther = "other"
)

// mediaMarkdown is the media type of text that is Markdown.
const mediaMarkdown = "text/markdown"

// output returns the output in an update. The text of a shell result is for users, its content for
// the model. ok is false if the update has no output.
func (t *turn) output(c *toolCall) (_ []protocol.Content, ok bool) {
	if text, ok := catalog.ShellText(c.Output); ok {
		return []protocol.Content{{Type: contentText, Text: text}}, true
	}
	if c.Content == nil {
		return nil, false
	}
	return mapContents(c.Content, t.agent.Markdown)
}

// mapContents maps the content list of a tool call. Unknown content is kept as raw data. References
// to terminals are left out: their output comes in other fields. ok is false if the list has only
// such references.
func mapContents(raw json.RawMessage, markdown bool) (out []protocol.Content, ok bool) {
	if out, ok := textContents(raw, markdown); ok {
		return out, true
	}
	var items []json.RawMessage
	if decode(raw, &items) != nil || items == nil && present(raw) && string(raw) != "[]" {
		return []protocol.Content{{Type: contentOther, Data: raw}}, true
	}
	out = make([]protocol.Content, 0, len(items))
	for _, item := range items {
		if c, ok := mapContent(item, markdown); ok {
			out = append(out, c)
		}
	}
	return out, len(out) > 0 || len(items) == 0
}

// textItem begins an item of the content of a tool call that is text.
const textItem = `{"type":"content","content":{"type":"text","text":"`

// textContents maps the content list of a tool call if all of it is text in the form that agents
// send, in one pass. It reports false for every other form.
func textContents(raw []byte, markdown bool) (out []protocol.Content, ok bool) {
	s := scanner{raw}
	for more := s.skip(`[`); more; more = s.skip(`,`) {
		var text string
		if !s.skip(textItem) || !s.text(&text) || !s.skip(`}}`) {
			break
		}
		out = append(out, textContent(text, markdown))
		if string(s.rest) == `]` {
			return out, true
		}
	}
	return nil, false
}

// textContent returns text as content. A single fenced block of Markdown is plain text: the agent put
// the output of the tool into it.
func textContent(text string, markdown bool) protocol.Content {
	c := protocol.Content{Type: contentText, Text: text}
	if !markdown {
		return c
	}
	if body, ok := fencedBlock(text); ok {
		c.Text = body
	} else if strings.Contains(text, "```") {
		c.MediaType = mediaMarkdown
	}
	return c
}

func mapContent(raw json.RawMessage, markdown bool) (_ protocol.Content, ok bool) {
	var c struct {
		Type    string  `json:"type"`
		Content block   `json:"content"`
		Path    string  `json:"path"`
		Old     *string `json:"oldText"`
		New     string  `json:"newText"`
	}
	_ = decode(raw, &c) // undecodable content has no type and is kept raw
	switch {
	case c.Type == "terminal":
		return protocol.Content{}, false
	case c.Type == "diff":
		return protocol.Content{Type: contentDiff, Path: c.Path, Old: c.Old, New: c.New}, true
	case c.Type != "content":
	case c.Content.Type == "text":
		return textContent(c.Content.Text, markdown), true
	default:
		if file, ok := c.Content.file(); ok {
			return file, true
		}
	}
	return protocol.Content{Type: contentOther, Data: raw}, true
}

// fencedBlock returns the text in the one fenced block that a Markdown text consists of.
func fencedBlock(text string) (body string, ok bool) {
	text = strings.TrimSuffix(text, "\n")
	fence := text[:len(text)-len(strings.TrimLeft(text, "`"))]
	_, rest, found := strings.Cut(text, "\n")
	if len(fence) < 3 || !found {
		return "", false
	}
	body, ok = strings.CutSuffix(rest, fence)
	if !ok || body != "" && !strings.HasSuffix(body, "\n") || strings.Contains("\n"+body, "\n"+fence) {
		return "", false
	}
	return strings.TrimSuffix(body, "\n"), true
}

// file returns the image, audio, resource or link of a block. ok is false for other blocks and for
// blocks without content.
func (b *block) file() (_ protocol.Content, ok bool) {
	base64 := func(typ, data string) (protocol.Content, bool) {
		c := protocol.Content{Type: typ, Name: b.Name, Path: b.URI, MediaType: b.MIMEType}
		c.Data = protocol.AppendString(nil, data)
		return c, data != ""
	}
	switch {
	case b.Type == "image":
		return base64(contentImage, b.Data)
	case b.Type == "audio":
		return base64(contentAudio, b.Data)
	case b.Type == "resource_link":
		name := cmp.Or(b.Title, b.Name)
		c := protocol.Content{Type: contentLink, Name: name, Path: b.URI, MediaType: b.MIMEType, Bytes: max(b.Size, 0)}
		return c, b.URI != ""
	case b.Type != "resource" || b.Resource == nil:
	case b.Resource.Text != "":
		r := b.Resource
		return protocol.Content{Type: contentText, Text: r.Text, Path: r.URI, MediaType: r.MIMEType}, true
	case b.Resource.Blob != "":
		r := b.Resource
		data := protocol.AppendString(nil, r.Blob)
		return protocol.Content{Type: contentBlob, MediaType: r.MIMEType, Path: r.URI, Data: data}, true
	}
	return protocol.Content{}, false
}

// text returns the text of a block in a message. ok is false for blocks without text.
func (b *block) text() (text string, ok bool) {
	switch {
	case b.Type == "text":
		return b.Text, true
	case b.Type == "resource_link" && b.URI != "":
		return "[" + cmp.Or(b.Name, b.URI) + "](" + b.URI + ")", true
	case b.Type == "resource" && b.Resource != nil && b.Resource.Text != "":
		return b.Resource.Text, true
	}
	return "", false
}

// plainText joins the content if all of it is text.
func plainText(content []protocol.Content) (string, bool) {
	var b strings.Builder
	for i, c := range content {
		if c.Type != contentText || c.Path != "" || c.MediaType != "" {
			return "", false
		}
		if i > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(c.Text)
	}
	return b.String(), true
}

// splitContent returns the diffs in a list, the other content that is not text, and all text.
func splitContent(list []protocol.Content) (diffs, other []protocol.Content, text string) {
	var texts []string
	for _, c := range list {
		switch c.Type {
		case contentDiff:
			diffs = append(diffs, c)
		case contentText:
			texts = append(texts, c.Text)
		default:
			other = append(other, c)
		}
	}
	return diffs, other, strings.Join(texts, "\n")
}
