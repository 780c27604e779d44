package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentctl/protocol"
	"agentctl/server/agent/llm"
	"agentctl/server/agent/llm/model"
)

// A content collects the parts of a result.
type content struct {
	texts []string
	files []model.File
	shown []protocol.Content // for clients: content that is not in the text
}

// result converts the result of a call.
func (b *Toolbox) result(r *sdk.CallToolResult) llm.ToolResult {
	var c content
	for _, part := range r.Content {
		c.add(part)
	}
	out := llm.ToolResult{Failed: r.IsError}
	if r.StructuredContent != nil {
		if j, err := json.Marshal(r.StructuredContent); err == nil {
			if len(c.texts) == 0 { // most servers send it as text too
				c.texts = append(c.texts, string(j))
			}
			if len(j) <= maxStructured {
				out.Output = j
			}
		}
	}
	if len(c.texts) == 0 && len(c.files) == 0 {
		c.texts = []string{"[no output]"}
	}
	out.Text = b.shorten(strings.Join(c.texts, "\n"))
	out.Files, out.Content = c.files, append([]protocol.Content{{Type: "text", Text: out.Text}}, c.shown...)
	return out
}

// add adds a part.
func (c *content) add(part sdk.Content) {
	switch p := part.(type) {
	case *sdk.TextContent:
		c.texts = append(c.texts, p.Text)
	case *sdk.ImageContent:
		c.addImage("image", p.MIMEType, p.Data)
	case *sdk.AudioContent:
		c.texts = append(c.texts, fmt.Sprintf("[audio %s, %d bytes, was left out]", p.MIMEType, len(p.Data)))
	case *sdk.ResourceLink:
		c.texts = append(c.texts, fmt.Sprintf("[resource %s %s]", cmp.Or(p.Title, p.Name), p.URI))
	case *sdk.EmbeddedResource:
		c.addResource(p.Resource)
	default:
		c.texts = append(c.texts, "[content of an unknown type was left out]")
	}
}

// addResource adds the contents of a resource.
func (c *content) addResource(r *sdk.ResourceContents) {
	switch {
	case r == nil:
	case r.Blob == nil:
		c.texts = append(c.texts, fmt.Sprintf("[resource %s]\n%s", r.URI, r.Text))
	default:
		c.addImage(r.URI, r.MIMEType, r.Blob)
	}
}

// addImage adds an image, or a text with the reason why not.
func (c *content) addImage(name, media string, data []byte) {
	name = cut(name, 200)
	problem := ""
	switch {
	case !slices.Contains(model.ImageTypes, media):
		problem = "was left out"
	case len(data) > maxImage:
		problem = fmt.Sprintf("is larger than %d MiB", maxImage>>20)
	case len(c.files) >= maxImages:
		problem = fmt.Sprintf("was left out after %d images", maxImages)
	}
	if problem != "" {
		c.texts = append(c.texts, fmt.Sprintf("[%s of type %.80s, %d bytes, %s]", name, media, len(data), problem))
		return
	}
	c.files = append(c.files, model.File{Name: name, MediaType: media, Data: data})
	j, _ := json.Marshal(data) // base64
	c.shown = append(c.shown, protocol.Content{
		Type: "image", Name: name, MediaType: media, Bytes: int64(len(data)), Data: j,
	})
}
