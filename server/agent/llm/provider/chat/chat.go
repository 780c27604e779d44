package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/sse"
	"agentctl/server/agent/llm/transport"
)

// A Model is a model behind the chat completions API.
type Model struct {
	client *transport.Client
	url    string
	name   string
	origin string
}

var _ model.Model = (*Model)(nil)

// New returns a model. The client adds the key to requests.
func New(client *transport.Client, baseURL, name, origin string) *Model {
	address := strings.TrimSuffix(baseURL, "/") + "/chat/completions"
	return &Model{client: client, url: address, name: name, origin: origin}
}

// Origin implements model.Model.
func (m *Model) Origin() string { return m.origin }

// Stream implements model.Model. A response is complete with a finish reason or [DONE].
func (m *Model) Stream(
	ctx context.Context, r *model.Request, emit func(model.Delta) error,
) (*model.Response, error) {
	body, err := json.Marshal(m.encode(r))
	if err != nil {
		return &model.Response{}, fmt.Errorf("encode request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(body))
	if err != nil {
		return &model.Response{}, model.Errorf(model.Invalid, "base_url is not a URL")
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := m.client.Do(req)
	if err != nil {
		return &model.Response{}, err
	}
	defer func() { _ = res.Body.Close() }()
	d := newDecoder(emit, m.origin)
	events := sse.NewReader(res.Body)
	for !d.ended {
		e, err := events.Next()
		switch {
		case errors.Is(err, io.EOF) && d.finished:
			return d.response(), nil
		case errors.Is(err, io.EOF):
			err = model.Errorf(model.Cut, "the answer ended before it was complete")
		case errors.Is(err, sse.ErrTooLarge):
			err = model.Errorf(model.Malformed, "the answer cannot be read: %v", err)
		case err == nil:
			err = d.decode(e.Data)
		}
		if err != nil {
			return d.response(), m.redact(err)
		}
	}
	return d.response(), nil
}

// redact removes secrets from an error of the provider.
func (m *Model) redact(err error) error {
	var e *model.Error
	if errors.As(err, &e) {
		e.Message = m.client.Redact(e.Message)
	}
	return err
}
