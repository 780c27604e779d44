package openai

import (
	"context"
	"errors"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/transport"
)

// BaseURL is the address of OpenAI.
const BaseURL = "https://api.openai.com/v1/"

// A Model is a model behind the Responses API.
type Model struct {
	service responses.ResponseService
	client  *transport.Client
	name    string
	origin  string
}

var _ model.Model = (*Model)(nil)

// New returns a model. The service reads no credentials from the environment.
func New(client *transport.Client, baseURL, key, name, origin string) *Model {
	service := responses.NewResponseService(
		option.WithBaseURL(baseURL), option.WithAPIKey(key), option.WithHTTPClient(client), option.WithMaxRetries(0),
	)
	return &Model{service: service, client: client, name: name, origin: origin}
}

// Origin implements model.Model.
func (m *Model) Origin() string { return m.origin }

// Stream implements model.Model.
func (m *Model) Stream(
	ctx context.Context, r *model.Request, emit func(model.Delta) error,
) (*model.Response, error) {
	params, err := m.encode(r)
	if err != nil {
		return &model.Response{}, err
	}
	stream := m.service.NewStreaming(ctx, params)
	defer func() { _ = stream.Close() }()
	d := newDecoder(emit, m.origin)
	for !d.done && stream.Next() {
		event := stream.Current()
		if err := d.decode(&event); err != nil {
			return d.response(), m.redact(err)
		}
	}
	if d.done {
		return d.response(), nil
	}
	return d.response(), m.streamError(ctx, stream.Err())
}

// streamError returns the reason why a stream ended without its terminal event.
func (m *Model) streamError(ctx context.Context, err error) error {
	var known *model.Error
	var reported *ssestream.StreamError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		return model.Errorf(model.Cut, "the answer ended before it was complete")
	case errors.As(err, &known):
		return known
	case errors.As(err, &reported):
		return m.redact(transport.DecodeEvent(reported.Event.Data))
	}
	return m.redact(model.Errorf(model.Malformed, "the answer cannot be read: %v", err))
}

// redact removes secrets from an error of the provider.
func (m *Model) redact(err error) error {
	var e *model.Error
	if errors.As(err, &e) {
		e.Message = m.client.Redact(e.Message)
	}
	return err
}
