package acp

import (
	"cmp"
	"net/url"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// promptBlocks converts a message to content blocks. It warns about parts that the agent does not
// support.
func (c *client) promptBlocks(m protocol.Message, t *turn) []block {
	var out []block
	if m.Text != "" || len(m.Parts) == 0 {
		out = append(out, block{Type: "text", Text: m.Text})
	}
	for _, p := range m.Parts {
		b, ok := c.agentInfo.promptBlock(p)
		if ok {
			out = append(out, b)
			continue
		}
		t.warn(c.config.Name + " does not support parts of type " + p.Type + "; " + cmp.Or(p.Name, "the part") +
			" was left out")
	}
	return out
}

// promptBlock converts a part to the block that the agent's prompt capabilities allow. ok is false
// if none does.
func (r *initializeResult) promptBlock(p protocol.Part) (_ block, ok bool) {
	media, data, inline := inlineData(p.URL)
	can := &r.Capabilities.Prompt
	switch {
	case inline && strings.HasPrefix(media, "image/") && can.Image:
		return block{Type: "image", MIMEType: media, Data: data}, true
	case inline && strings.HasPrefix(media, "audio/") && can.Audio:
		return block{Type: "audio", MIMEType: media, Data: data}, true
	case inline && p.Type == partFile && can.Embedded:
		return embedded(resource{URI: attachmentURI(p.Name), MIMEType: media, Blob: data}), true
	case inline:
		return block{}, false
	case p.URL != "":
		name := cmp.Or(p.Name, p.URL[strings.LastIndexByte(p.URL, '/')+1:])
		return block{Type: "resource_link", URI: p.URL, Name: name, MIMEType: p.MediaType}, true
	case p.Text != "" && p.Type == partFile && p.Name != "" && can.Embedded:
		return embedded(resource{URI: attachmentURI(p.Name), MIMEType: p.MediaType, Text: p.Text}), true
	case p.Text != "" && p.Type == partFile && p.Name != "":
		return block{Type: "text", Text: "\n\nFile " + p.Name + ":\n\n" + p.Text}, true
	case p.Text != "":
		return block{Type: "text", Text: p.Text}, true
	}
	return block{}, false
}

// partFile is the type of the message part that holds a file.
const partFile = "file"

func embedded(r resource) block { return block{Type: "resource", Resource: &r} }

// attachmentURI returns the URI of a file that exists in the message only. It is not a file URL, so
// that the agent does not look for it on disk.
func attachmentURI(name string) string { return "attachment:///" + url.PathEscape(name) }

// inlineData splits a base64 data URL.
func inlineData(url string) (media, data string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	media, data, ok = strings.Cut(rest, ";base64,")
	return media, data, ok
}

// end maps the stop reason. Without a cancel by the server, cancelled means that the agent stopped
// the turn itself, for instance after a denial.
func (r *promptResult) end() agent.End {
	switch r.Reason {
	case "end_turn":
		return agent.End{Reason: protocol.ReasonCompleted}
	case "max_tokens":
		return agent.End{Reason: protocol.ReasonMaxTokens}
	case "max_turn_requests":
		return agent.End{Reason: protocol.ReasonMaxRequests}
	case "refusal":
		return agent.End{Reason: protocol.ReasonRefusal}
	case "cancelled":
		return agent.End{Reason: protocol.ReasonInterrupted, Message: "the agent stopped the turn"}
	}
	return agent.End{Reason: protocol.ReasonCompleted, Message: "stop reason " + r.Reason}
}
