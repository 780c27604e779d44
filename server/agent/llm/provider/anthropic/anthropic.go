package anthropic

import (
	"context"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/transport"
)

// BaseURL is the address of Anthropic.
const BaseURL = "https://api.anthropic.com/"

// version is the version of the API.
const version = "2023-06-01"

// A Model is a model behind the Messages API.
type Model struct {
	client *transport.Client
	url    string
	name   string
	origin string
}

var _ model.Model = (*Model)(nil)

// New returns a model. The client has the headers of Headers.
func New(client *transport.Client, baseURL, name, origin string) *Model {
	return &Model{client: client, url: baseURL + "v1/messages", name: name, origin: origin}
}

// Headers returns the headers that the API wants.
func Headers(key string) map[string]string {
	headers := map[string]string{"Anthropic-Version": version}
	if key != "" {
		headers["X-Api-Key"] = key
	}
	return headers
}

// Origin implements model.Model.
func (m *Model) Origin() string { return m.origin }

// Stream implements model.Model. The SDK has the types alone: its reader of streams takes no stream without event
// lines or with carriage returns, as compatible servers send.
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
