package llm

import (
	"cmp"
	"context"
	"encoding/base64"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/llm/model"
)

// userMessage converts a message of a user. Unless the agent had it before, it expands its command and
// adds the resources that it mentions. left are parts and images that it replaced by notes.
func (t *turnRun) userMessage(
	ctx context.Context, from *protocol.Message, isNew bool,
) (m model.Message, left []string, err error) {
	m, left = convert(from)
	if isNew {
		if err := t.expand(ctx, from.Text, &m); err != nil {
			return m, nil, err
		}
		if err := t.addResources(ctx, from, &m); err != nil {
			return m, nil, err
		}
	}
	m.Parts = editParts(m.Parts, fitImages(context.WithoutCancel(ctx), &left)) // the conversation gets it anyway
	return m, left, nil
}

// convert converts a message of a user. left are the names of parts that it replaced by notes.
func convert(m *protocol.Message) (out model.Message, left []string) {
	out.Role = model.User
	if m.Text != "" {
		out.Parts = append(out.Parts, model.Part{Type: model.Text, Text: m.Text, Asked: true})
	}
	for _, p := range m.Parts {
		part, ok := userPart(&p)
		if !ok {
			name := cmp.Or(p.Name, p.Type)
			left = append(left, name)
			part = model.Part{Type: model.Text, Text: leftOut(&model.File{Name: name}, "it has no valid content")}
		}
		out.Parts = append(out.Parts, part)
	}
	if len(out.Parts) == 0 {
		out.Parts = []model.Part{{Type: model.Text, Text: "(an empty message)"}}
	}
	return out, left
}

// userPart converts a part of a message: a file in it, a text, or a link.
func userPart(p *protocol.Part) (out model.Part, ok bool) {
	if rest, inline := strings.CutPrefix(p.URL, "data:"); inline {
		media, data, _ := strings.Cut(rest, ";base64,")
		b, err := base64.StdEncoding.DecodeString(data)
		if err != nil || len(b) == 0 {
			return out, false
		}
		f := &model.File{Name: cmp.Or(p.Name, p.Type), MediaType: cmp.Or(p.MediaType, media), Data: b}
		if strings.HasPrefix(f.MediaType, "text/") {
			f.Text, f.Data = protocol.ValidText(string(b)), nil
		}
		return model.Part{Type: model.FilePart, File: f}, true
	}
	switch {
	case p.URL != "":
		return model.Part{Type: model.Text, Text: strings.TrimSpace(p.Name + " " + p.URL)}, true
	case p.Text != "" && p.Name != "":
		return model.Part{Type: model.FilePart, File: &model.File{
			Name: p.Name, MediaType: cmp.Or(p.MediaType, "text/plain"), Text: p.Text,
		}}, true
	case p.Text != "":
		return model.Part{Type: model.Text, Text: p.Text}, true
	}
	return out, false
}
