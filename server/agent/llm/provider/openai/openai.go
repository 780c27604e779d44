package openai

import (
	"context"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/transport"
)

// BaseURL is the address of OpenAI.
const BaseURL = "https://api.openai.com/v1/"

// A Model is a model behind the Responses API.
type Model struct {
	client *transport.Client
	url    string
	name   string
	origin string
}

var _ model.Model = (*Model)(nil)

// New returns a model. The client adds the key to requests.
func New(client *transport.Client, baseURL, name, origin string) *Model {
	return &Model{client: client, url: baseURL + "responses", name: name, origin: origin}
}

// Origin implements model.Model.
func (m *Model) Origin() string { return m.origin }

// Stream implements model.Model. The SDK has the types alone.
func (m *Model) Stream(
	ctx context.Context, r *model.Request, emit func(model.Delta) error,
) (*model.Response, error) {
	params, err := m.encode(r)
	if err != nil {
		return &model.Response{}, err
	}
	d := newDecoder(emit, m.origin)
	err = m.client.Events(ctx, m.url, transport.Streamed{Params: params}, d)
	return d.response(), err
}
