package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/sse"
)

// A Decoder decodes the events of a response.
type Decoder interface {
	// Decode applies the data of an event.
	Decode(data []byte) error

	// Ended reports whether the response is complete. Without this, it may end with the stream if it has a Stop.
	Ended() bool

	// Result returns the response so far.
	Result() *model.Response
}

// Events posts a request as JSON and passes the events of the answer to d. A stream that ends
// before the answer is complete is a cut one. No error has a secret.
func (c *Client) Events(ctx context.Context, address string, request any, d Decoder) error {
	b, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	res, err := c.do(ctx, http.MethodPost, address, bytes.NewReader(b))
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	events := sse.NewReader(res.Body)
	for !d.Ended() {
		data, err := events.Next()
		switch {
		case errors.Is(err, io.EOF) && d.Result().Stop != "":
			return nil
		case errors.Is(err, io.EOF):
			err = model.Errorf(model.Cut, "the answer ended before it was complete")
		case errors.Is(err, sse.ErrTooLarge):
			err = model.Errorf(model.Malformed, "the answer cannot be read: %v", err)
		case err == nil:
			err = d.Decode(data)
		}
		if err != nil {
			return c.redactError(err)
		}
	}
	return nil
}

// redactError removes secrets from an error of the provider.
func (c *Client) redactError(err error) error {
	if e, ok := errors.AsType[*model.Error](err); ok {
		e.Message = c.Redact(e.Message)
	}
	return err
}
