package anthropic

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/transport"
)

// BaseURL is the address of Anthropic.
const BaseURL = "https://api.anthropic.com/"

// A Model is a model behind the Messages API.
type Model struct {
	service anthropic.MessageService
	client  *transport.Client
	name    string
	origin  string
}

var _ model.Model = (*Model)(nil)

// New returns a model. The service reads no credentials from the environment.
func New(client *transport.Client, baseURL, key, name, origin string) *Model {
	service := anthropic.NewMessageService(
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
	if stream.Err() != nil {
		return &model.Response{}, m.streamError(ctx, stream.Err())
	}
	defer func() { _ = stream.Close() }()
	d := newDecoder(emit, m.origin)
	for !d.done && stream.Next() {
		event := stream.Current()
		if err := d.decode(&event); err != nil {
			return d.response(), err
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
	var reported *anthropic.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		return model.Errorf(model.Cut, "the answer ended before it was complete")
	case errors.As(err, &known):
		return known
	case errors.As(err, &reported) && json.Valid([]byte(reported.RawJSON())):
		known = transport.DecodeEvent([]byte(reported.RawJSON()))
	default:
		known = model.Errorf(model.Malformed, "the answer cannot be read: %v", err)
	}
	known.Message = m.client.Redact(known.Message)
	return known
}
