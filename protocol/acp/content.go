package acp

import (
	"path"
	"strconv"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A block is a content block of a prompt.
type block struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     string `json:"data"`
	MIMEType string `json:"mimeType"`
	URI      string `json:"uri"`
	Name     string `json:"name"`
	Resource struct {
		URI      string `json:"uri"`
		Text     string `json:"text"`
		Blob     string `json:"blob"`
		MIMEType string `json:"mimeType"`
	} `json:"resource"`
}

// decodePrompt returns the text and the parts of a prompt. A resource is named in the text at its
// place.
func decodePrompt(blocks []block) (text string, parts []protocol.Part, _ *protocol.Error) {
	var words strings.Builder
	for i := range blocks {
		b := &blocks[i]
		switch b.Type {
		case "text":
			words.WriteString(b.Text)
			continue
		case "image":
			parts = append(parts, protocol.Part{Type: "image", MediaType: b.MIMEType, URL: dataURL(b.MIMEType, b.Data)})
		case "resource_link":
			parts = append(parts, protocol.Part{Type: "file", Name: b.Name, MediaType: b.MIMEType, URL: b.URI})
			words.WriteString("@" + b.Name)
		case "resource":
			r := &b.Resource
			p := protocol.Part{Type: "file", Name: path.Base(r.URI), MediaType: r.MIMEType, Text: r.Text}
			if r.Blob != "" {
				p.URL = dataURL(r.MIMEType, r.Blob)
			}
			parts = append(parts, p)
			words.WriteString("@" + p.Name)
		default:
			return "", nil, protocol.Errorf(protocol.CodeUnsupported, "prompt: content of the type %.40q", b.Type)
		}
	}
	return words.String(), parts, nil
}

func dataURL(mediaType, data string) string { return "data:" + mediaType + ";base64," + data }

// encodePart returns a part of a user's message as a content block.
func encodePart(p *protocol.Part) object {
	if data, ok := strings.CutPrefix(p.URL, "data:"); ok {
		mediaType, encoded, isBase64 := strings.Cut(data, ";base64,")
		switch {
		case isBase64 && p.Type == "image":
			return object{"type": "image", "mimeType": mediaType, "data": encoded}
		case isBase64:
			return resource(object{"uri": fileURI(p.Name), "mimeType": mediaType, "blob": encoded})
		}
	}
	if p.Text != "" {
		r := object{"uri": fileURI(p.Name), "text": p.Text}
		if p.MediaType != "" {
			r["mimeType"] = p.MediaType
		}
		return resource(r)
	}
	uri := p.URL
	if uri == "" {
		uri = "agentctl:blob/" + p.Blob
	}
	return link(p.Name, uri, p.MediaType)
}

func resource(contents object) object { return object{"type": "resource", "resource": contents} }

func fileURI(name string) string { return "file:///" + strings.TrimPrefix(name, "/") }

func link(name, uri, mediaType string) object {
	if name == "" {
		name = path.Base(uri)
	}
	l := object{"type": "resource_link", "name": name, "uri": uri}
	if mediaType != "" {
		l["mimeType"] = mediaType
	}
	return l
}

func textBlock(text string) object { return object{"type": "text", "text": text} }

// encodeContent returns a piece of an agent's output, other than a diff, as a content block.
func encodeContent(c *protocol.Content) object {
	data := codec.String(c.Data) // base64 of a small file
	switch {
	case c.Type == "text":
		return textBlock(c.Text)
	case data != "" && (c.Type == "image" || c.Type == "audio"):
		return object{"type": c.Type, "mimeType": c.MediaType, "data": data}
	case c.Path != "":
		return link(c.Name, c.Path, c.MediaType)
	case c.Blob != "":
		return link(c.Name, "agentctl:blob/"+c.Blob, c.MediaType)
	case c.Text != "":
		return textBlock(c.Text)
	}
	return textBlock(string(c.Data))
}

// toolContent returns a piece of the output of a tool.
func toolContent(version int, d *protocol.Content) object {
	switch {
	case d.Type != "diff":
		return object{"type": "content", "content": encodeContent(d)}
	case version == 1:
		diff := object{"type": "diff", "path": d.Path, "newText": d.New}
		if d.Old != nil {
			diff["oldText"] = *d.Old
		}
		return diff
	}
	operation := "add"
	if d.Old != nil {
		operation = "modify"
	}
	return object{
		"type": "diff", "changes": []object{{"operation": operation, "path": d.Path}},
		"patch": object{"format": "git_patch", "text": wholePatch(d.Path, d.Old, d.New)},
	}
}

// wholePatch returns a patch that replaces all lines of a text; old is nil for a new file.
func wholePatch(name string, old *string, text string) string {
	name = strings.TrimPrefix(name, "/")
	from, before := "/dev/null", ""
	if old != nil {
		from, before = "a/"+name, *old
	}
	var ranges, body string
	for _, side := range []struct{ sign, text string }{{"-", before}, {"+", text}} {
		n := 0
		for line := range strings.Lines(side.text) {
			n++
			if body += side.sign + line; !strings.HasSuffix(line, "\n") {
				body += "\n\\ No newline at end of file\n"
			}
		}
		ranges += " " + side.sign + strconv.Itoa(min(n, 1)) + "," + strconv.Itoa(n)
	}
	return "--- " + from + "\n+++ b/" + name + "\n@@" + ranges + " @@\n" + body
}
