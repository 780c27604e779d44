package transport

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync"
	"time"

	"agentctl/internal/redact"
	"agentctl/server/agent/llm/model"
)

// Times to wait.
const (
	firstByte = 3 * time.Minute // until the answer begins: models think before
	idle      = 5 * time.Minute // between two pieces of the answer
)

// A Client sends requests for streams. It does not change after construction.
type Client struct {
	Base    http.RoundTripper // nil: the network
	Headers map[string]string // added to each request
	Secrets []string          // removed from errors
}

// shared keeps connections for all sessions.
var shared = sync.OnceValue(func() http.RoundTripper {
	return http.DefaultTransport.(*http.Transport).Clone()
})

const jsonType = "application/json"

// maxJSON bounds the bytes of an answer that is no stream.
const maxJSON = 8 << 20

// Get requests JSON, and decodes it.
func (c *Client) Get(ctx context.Context, address string, v any) error {
	res, err := c.do(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if err := json.NewDecoder(io.LimitReader(res.Body, maxJSON)).Decode(v); err != nil {
		return c.redactError(model.Errorf(model.Malformed, "the answer cannot be read: %v", err))
	}
	return nil
}

// do sends a request: GET for JSON, POST of JSON for a stream. Its errors, and errors of reading the body, are
// model.Errors, or the error of ctx if that ended.
func (c *Client) do(ctx context.Context, method, address string, content io.Reader) (*http.Response, error) {
	b := &body{client: c, parent: ctx}
	b.ctx, b.cancel = context.WithCancelCause(ctx)
	req, err := http.NewRequestWithContext(b.ctx, method, address, content)
	if err != nil {
		b.cancel(nil)
		return nil, model.Errorf(model.Invalid, "base_url is not a URL")
	}
	if method == http.MethodGet {
		req.Header.Set("Accept", jsonType)
	} else {
		req.Header.Set("Content-Type", jsonType)
	}
	for name, value := range c.Headers {
		req.Header.Set(name, value)
	}
	base := c.Base
	if base == nil {
		base = shared()
	}
	b.limit(firstByte, "no answer within %s")
	res, err := (&http.Client{Transport: base, CheckRedirect: noRedirect}).Do(req)
	if err != nil {
		err = b.cause(err)
		b.stop()
		return nil, err
	}
	b.ReadCloser, res.Body = res.Body, b
	if err := c.check(res); err != nil {
		err = b.cause(err)
		_ = b.Close() // the error is more specific
		return nil, err
	}
	return res, nil
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// maxErrorBody bounds the bytes read from the body of an error.
const maxErrorBody = 64 << 10

// check returns an error unless the response is what was requested.
func (c *Client) check(res *http.Response) error {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case res.StatusCode == http.StatusOK && (kind == "text/event-stream" || kind == ""):
		return nil
	case res.StatusCode == http.StatusOK && res.Request.Method == http.MethodGet && kind == jsonType:
		return nil
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return &model.Error{
			Class: model.Invalid, Status: res.StatusCode,
			Message: "the server redirects, which is not followed: correct base_url",
		}
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	if err != nil {
		return err
	}
	if res.StatusCode < 300 && (res.StatusCode != http.StatusOK || len(text) == 0) {
		return model.Errorf(model.Malformed, "the server answered with HTTP %d and no stream", res.StatusCode)
	}
	e := DecodeError(res.StatusCode, res.Header, text)
	if res.StatusCode == http.StatusOK && e.Class == "" {
		e.Class, e.Message = model.Invalid, "the server answered with "+kind+" instead of a stream: check base_url"
	}
	e.Message = c.Redact(e.Message)
	return e
}

// Redact removes the secrets from a text, and the beginning of one where the text was cut. Short ones stay: they
// are parts of words.
func (c *Client) Redact(text string) string {
	return redact.NewValues("[secret]", redact.MinValue, c.Secrets).HideCut(text)
}

// A body is the body of an answer. It cancels a request whose answer takes too long.
type body struct {
	io.ReadCloser // nil before the answer begins

	client *Client
	parent context.Context
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

// limit replaces the time that is left.
func (b *body) limit(d time.Duration, format string) {
	if b.timer != nil {
		b.timer.Stop()
	}
	b.timer = time.AfterFunc(d, func() { b.cancel(model.Errorf(model.Timeout, format, d)) })
}

func (b *body) stop() {
	b.timer.Stop()
	b.cancel(nil)
}

// cause returns the reason of a failure.
func (b *body) cause(err error) error {
	if b.parent.Err() != nil {
		return b.parent.Err()
	}
	var e *model.Error
	if errors.As(context.Cause(b.ctx), &e) || errors.As(err, &e) {
		return e
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // without the URL, which may have secrets
	}
	if errors.Is(err, io.EOF) {
		return model.Errorf(model.Network, "the server closed the connection before its answer")
	}
	return model.Errorf(model.Network, "%s", b.client.Redact(err.Error()))
}

func (b *body) Read(p []byte) (int, error) {
	b.limit(idle, "the answer stopped for %s")
	n, err := b.ReadCloser.Read(p)
	if err == nil || err == io.EOF && b.ctx.Err() == nil {
		return n, err
	}
	cause := b.cause(err)
	if e, ok := errors.AsType[*model.Error](cause); ok && e.Class == model.Network {
		cause = model.Errorf(model.Cut, "the connection was cut: %s", e.Message)
	}
	return n, cause
}

func (b *body) Close() error {
	b.stop()
	return b.ReadCloser.Close()
}
