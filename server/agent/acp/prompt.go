package acp

import (
	"strings"

	"agentctl/protocol"
	"agentctl/server/session"
)

// promptBlocks converts a message to content blocks. It warns about parts that the agent does not
// support.
func (c *client) promptBlocks(m protocol.Message, t *turn) []block {
	var out []block
	if m.Text != "" || len(m.Parts) == 0 {
		out = append(out, block{Type: "text", Text: m.Text})
	}
	for _, p := range m.Parts {
		b, ok := c.promptBlock(p)
		if ok {
			out = append(out, b)
			continue
		}
		t.warn(c.config.Name + " does not support parts of type " + p.Type + "; the part was left out")
	}
	return out
}

func (c *client) promptBlock(p protocol.Part) (block, bool) {
	media, data, inline := inlineData(p.URL)
	switch {
	case inline && strings.HasPrefix(media, "image/") && c.agentInfo.Capabilities.Prompt.Image:
		return block{Type: "image", MIMEType: media, Data: data}, true
	case inline:
		return block{}, false
	case p.URL != "":
		name := p.Name
		if name == "" {
			name = p.URL[strings.LastIndexByte(p.URL, '/')+1:]
		}
		return block{Type: "resource_link", URI: p.URL, Name: name, MIMEType: p.MediaType}, true
	case p.Text != "":
		return block{Type: "text", Text: p.Text}, true
	}
	return block{}, false
}

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
func (r *promptResult) end() session.End {
	end := session.End{Reason: protocol.ReasonCompleted}
	switch r.Reason {
	case "end_turn":
	case "max_tokens":
		end.Reason = protocol.ReasonMaxTokens
	case "max_turn_requests":
		end.Reason = protocol.ReasonMaxRequests
	case "refusal":
		end.Reason = protocol.ReasonRefusal
	case "cancelled":
		end.Reason, end.Message = protocol.ReasonInterrupted, "the agent stopped the turn"
	default:
		end.Message = "stop reason " + r.Reason
	}
	return end
}
