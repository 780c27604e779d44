package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentctl/protocol"
	"agentctl/server/agent/llm/model"

	"agentctl/internal/format"
)

// Limits of the resources that users are offered.
const (
	maxNamed      = 100      // of a server
	maxNamedBytes = 32 << 10 // of all servers together
	maxURI        = 500      // bytes
)

// listNamed reads the resources that users can mention. A server that fails to list them offers
// none: the model can ask for them later.
func (c *connection) listNamed(ctx context.Context, s *sdk.ClientSession) (list []protocol.Resource) {
	for x, err := range s.Resources(ctx, nil) {
		switch {
		case err != nil:
			c.box.options.Host.Logf("MCP server %s: list resources: %v", c.server.Name, c.server.plainError(err))
			return list
		case x == nil || !isMentionable(x.URI):
		case len(list) == maxNamed:
			return list
		default:
			title := oneLine(cmp.Or(x.Title, x.Name), 100)
			list = append(list, protocol.Resource{Name: c.server.Name + ":" + x.URI, Title: title})
		}
	}
	return list
}

// isMentionable reports whether a URI can be a word of a message.
func isMentionable(uri string) bool {
	unfit := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '"' }
	return uri != "" && len(uri) <= maxURI && protocol.ValidText(uri) == uri && !strings.ContainsFunc(uri, unfit)
}

// oneLine returns a text of a server as one bounded line of printable characters.
func oneLine(text string, n int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, protocol.ValidText(text))
	return format.Words(cut(text, n), 0)
}

// Resources implements llm.Servers.
func (b *Toolbox) Resources() (list []protocol.Resource) {
	size := 0
	for _, c := range b.connections {
		for _, r := range c.offered().named {
			if size += len(r.Name) + len(r.Title) + 32; size > maxNamedBytes {
				return list
			}
			list = append(list, r)
		}
	}
	return list
}

// ReadResource implements llm.Servers.
func (b *Toolbox) ReadResource(ctx context.Context, name string) ([]model.Part, error) {
	server, uri, _ := strings.Cut(name, ":")
	c, err := b.find(server)
	if err != nil || !isMentionable(uri) {
		return nil, nil //nolint:nilerr // it is a text
	}
	r, err := c.readResource(ctx, uri, func(string) {})
	if err != nil {
		return nil, err
	}
	var content content
	for _, x := range r.Contents {
		content.addResource(x)
	}
	parts := b.parts(&content)
	if parts == nil {
		return nil, fmt.Errorf("the MCP server %s returned nothing for %s", server, uri)
	}
	return parts, nil
}
