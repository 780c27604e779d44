package transport

import (
	"context"
	"net/url"
	"strings"

	"agentctl/server/agent/llm/model"
)

// An API is the protocol of a model provider.
type API struct {
	Base   string // address of the provider; empty: each is configured
	Stream string // path of requests for a model, below the base; {model} stands for its name
	List   string // path of the list of models

	// Headers returns the headers of a request with a key; empty: no key.
	Headers func(key string) map[string]string

	// Encode returns a request as a value that is encoded as JSON.
	Encode func(m *Model, r *model.Request) map[string]any

	// NewDecoder returns a decoder of a response, which builds it with b.
	NewDecoder func(b *model.Builder) Decoder
}

// Bearer returns the header of a key that most providers want.
func Bearer(key string) map[string]string {
	if key == "" {
		return nil
	}
	return map[string]string{"Authorization": "Bearer " + key}
}

// A Model is a model behind an API. It does not change after construction.
type Model struct {
	api     *API
	client  *Client
	address string
	name    string
	origin  string
}

var _ model.Model = (*Model)(nil)

// NewModel returns a model. base is an address with a slash at its end. The client adds the key to requests.
func (a *API) NewModel(client *Client, base, name, origin string) *Model {
	address := base + strings.ReplaceAll(a.Stream, "{model}", url.PathEscape(name))
	return &Model{api: a, client: client, address: address, name: name, origin: origin}
}

// Name returns the name of the model at its provider.
func (m *Model) Name() string { return m.name }

// Origin implements model.Model.
func (m *Model) Origin() string { return m.origin }

// Stream implements model.Model.
func (m *Model) Stream(
	ctx context.Context, r *model.Request, emit func(model.Delta) error,
) (*model.Response, error) {
	d := m.api.NewDecoder(model.NewBuilder(m.origin, emit))
	err := m.client.Events(ctx, m.address, m.api.Encode(m, r), d)
	return d.Result(), err
}
