package acp

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
)

// Types of protocol.Content.
const (
	contentText  = "text"
	contentDiff  = "diff"
	contentImage = "image"
	contentOther = "other"
)

// mapContents maps the content list of a tool call. Unknown content is kept as raw data.
func mapContents(raw json.RawMessage) []protocol.Content {
	var items []json.RawMessage
	if decode(raw, &items) != nil || items == nil && present(raw) && string(raw) != "[]" {
		return []protocol.Content{{Type: contentOther, Data: raw}}
	}
	out := make([]protocol.Content, 0, len(items))
	for _, item := range items {
		out = append(out, mapContent(item))
	}
	return out
}

func mapContent(raw json.RawMessage) protocol.Content {
	var c struct {
		Type    string  `json:"type"`
		Content block   `json:"content"`
		Path    string  `json:"path"`
		Old     *string `json:"oldText"`
		New     string  `json:"newText"`
	}
	_ = decode(raw, &c) // undecodable content has no type and is kept raw
	switch {
	case c.Type == "diff":
		return protocol.Content{Type: contentDiff, Path: c.Path, Old: c.Old, New: c.New}
	case c.Type != "content":
	case c.Content.Type == "text":
		return protocol.Content{Type: contentText, Text: c.Content.Text}
	case c.Content.Type == "image" && c.Content.Data != "":
		data := protocol.AppendString(nil, c.Content.Data)
		return protocol.Content{Type: contentImage, MediaType: c.Content.MIMEType, Path: c.Content.URI, Data: data}
	case c.Content.Type == "resource" && c.Content.Resource != nil && c.Content.Resource.Text != "":
		r := c.Content.Resource
		return protocol.Content{Type: contentText, Text: r.Text, Path: r.URI, MediaType: r.MIMEType}
	}
	return protocol.Content{Type: contentOther, Data: raw}
}

// plainText joins the content if all of it is text.
func plainText(content []protocol.Content) (string, bool) {
	var b strings.Builder
	for i, c := range content {
		if c.Type != contentText || c.Path != "" {
			return "", false
		}
		if i > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(c.Text)
	}
	return b.String(), true
}

// diffs returns the diffs in a list and all its text.
func diffs(list []protocol.Content) (diffs []protocol.Content, text string) {
	var texts []string
	for _, c := range list {
		switch c.Type {
		case contentDiff:
			diffs = append(diffs, c)
		case contentText:
			texts = append(texts, c.Text)
		}
	}
	return diffs, strings.Join(texts, "\n")
}
