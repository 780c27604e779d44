package google

import (
	"context"
	"net/url"
	"strings"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/transport"
)

// BaseURL is the address of the Gemini API.
const BaseURL = "https://generativelanguage.googleapis.com/v1beta/"

// A Model is a model behind the Gemini API.
type Model struct {
	client *transport.Client
	url    string
	name   string
	origin string
}

var _ model.Model = (*Model)(nil)

// New returns a model. The client adds the key to requests.
func New(client *transport.Client, baseURL, name, origin string) *Model {
	address := strings.TrimSuffix(baseURL, "/") + "/models/" + url.PathEscape(name) + ":streamGenerateContent?alt=sse"
	return &Model{client: client, url: address, name: name, origin: origin}
}

// Origin implements model.Model.
func (m *Model) Origin() string { return m.origin }

// Stream implements model.Model.
func (m *Model) Stream(
	ctx context.Context, r *model.Request, emit func(model.Delta) error,
) (*model.Response, error) {
	d := newDecoder(emit, m.origin)
	err := m.client.Events(ctx, m.url, m.encode(r), d)
	return d.response(), err
}
