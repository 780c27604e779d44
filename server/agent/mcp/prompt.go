package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentctl/protocol"
	"agentctl/server/agent/llm/model"
)

// maxArguments bounds the arguments of a prompt.
const maxArguments = 16

// A prompt is a prompt of a server, a command of users.
type prompt struct {
	connection *connection
	name       string // as the server has it
	command    protocol.SlashCommand
	arguments  []string
	required   int // arguments that must be given
}

func newPrompt(c *connection, of *sdk.Prompt) *prompt {
	p := &prompt{connection: c, name: of.Name}
	var hint []string
	for i, a := range of.Arguments {
		if a == nil {
			continue
		}
		text := cut(a.Name, 40)
		if a.Required {
			p.required = i + 1
		} else {
			text = "[" + text + "]"
		}
		p.arguments, hint = append(p.arguments, a.Name), append(hint, text)
	}
	about := of.Description
	if about == "" {
		about = of.Title
	}
	about = strings.Join(strings.Fields(cut(about, 200)), " ")
	p.command = protocol.SlashCommand{
		Name: toolName(c.server.Name, of.Name), About: about, Hint: strings.Join(hint, " "),
	}
	return p
}

// Commands implements llm.Servers.
func (b *Toolbox) Commands() (list []protocol.SlashCommand) {
	for _, c := range b.connections {
		for _, p := range c.offered().prompts {
			list = append(list, p.command)
		}
	}
	return list
}

// Expand implements llm.Servers. Arguments are words in the order of the hint. The last one takes
// the rest of the text.
func (b *Toolbox) Expand(ctx context.Context, command, text string) ([]model.Part, error) {
	for _, c := range b.connections {
		for _, p := range c.offered().prompts {
			if p.command.Name == command {
				return p.expand(ctx, text)
			}
		}
	}
	return nil, nil
}

func (p *prompt) expand(ctx context.Context, text string) ([]model.Part, error) {
	params := &sdk.GetPromptParams{Name: p.name, Arguments: map[string]string{}}
	given := strings.Fields(text)
	if len(given) < p.required {
		return nil, fmt.Errorf("/%s needs %s", p.command.Name, p.command.Hint)
	}
	if len(p.arguments) == 0 && len(given) > 0 {
		return nil, fmt.Errorf("/%s takes no arguments", p.command.Name)
	}
	rest := strings.TrimSpace(text)
	for i, name := range p.arguments {
		if rest == "" {
			break
		}
		word, after, _ := strings.Cut(rest, " ")
		if i == len(p.arguments)-1 {
			word, after = rest, ""
		}
		params.Arguments[name], rest = word, strings.TrimSpace(after)
	}
	send := func(ctx context.Context, s *sdk.ClientSession, _ string) (*sdk.GetPromptResult, error) {
		return s.GetPrompt(ctx, params)
	}
	r, err := run(ctx, p.connection, caller{out: func(string) {}}, send)
	if err != nil {
		return nil, fmt.Errorf("/%s: %w", p.command.Name, err)
	}
	return p.connection.box.message(r)
}

// message returns a prompt as parts of one message. Texts of the agent's role become a quotation:
// the model did not write them.
func (b *Toolbox) message(r *sdk.GetPromptResult) ([]model.Part, error) {
	var c content
	for _, m := range r.Messages {
		if m == nil {
			continue
		}
		if m.Role == "assistant" {
			c.texts = append(c.texts, "[an example of an answer:]")
		}
		c.add(m.Content)
	}
	parts := b.parts(&c)
	if parts == nil {
		return nil, errors.New("the prompt is empty")
	}
	return parts, nil
}

// parts returns a content as parts of a message.
func (b *Toolbox) parts(c *content) (parts []model.Part) {
	if len(c.texts) > 0 {
		parts = append(parts, model.Part{Type: model.Text, Text: b.shorten(strings.Join(c.texts, "\n"))})
	}
	for i := range c.files {
		parts = append(parts, model.Part{Type: model.FilePart, File: &c.files[i]})
	}
	return parts
}
