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

// Default times to wait.
const (
	DefaultFirstByte = 3 * time.Minute // models think before they answer
	DefaultIdle      = 5 * time.Minute
)

// A Client sends requests for streams. It does not change after construction.
type Client struct {
	Base      http.RoundTripper // nil: the network
	Headers   map[string]string // added to each request
	Secrets   []string          // removed from errors
	FirstByte time.Duration     // until the answer begins
	Idle      time.Duration     // between two pieces of the answer
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
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return model.Errorf(model.Invalid, "base_url is not a URL")
	}
	req.Header.Set("Accept", jsonType)
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if err := json.NewDecoder(io.LimitReader(res.Body, maxJSON)).Decode(v); err != nil {
		return c.redactError(model.Errorf(model.Malformed, "the answer cannot be read: %v", err))
	}
	return nil
}

// Do sends a request and returns the stream that answers it. Its errors, and errors of reading the
// body, are model.Errors, or the error of the request's context if that ended.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	parent := req.Context()
	ctx, cancel := context.WithCancelCause(parent)
	w := &watchdog{parent: parent, ctx: ctx, cancel: cancel, client: c}
	w.start(c.FirstByte, "no answer within %s")
	req = req.WithContext(ctx)
	for name, value := range c.Headers {
		req.Header.Set(name, value)
	}
	base := c.Base
	if base == nil {
		base = shared()
	}
	res, err := (&http.Client{Transport: base, CheckRedirect: noRedirect}).Do(req)
	if err != nil {
		err = w.cause(err)
		w.stop()
		return nil, err
	}
	res.Body = &body{ReadCloser: res.Body, watchdog: w}
	if err := c.check(res); err != nil {
		err = w.cause(err)
		_ = res.Body.Close() // the error is more specific
		return nil, err
	}
	return res, nil
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// maxErrorBody bounds the bytes read from the body of an error.
const maxErrorBody = 64 << 10

// check returns an error unless the response is a stream of events.
func (c *Client) check(res *http.Response) error {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case res.StatusCode == http.StatusOK && (kind == "text/event-stream" || kind == ""):
		return nil
	case res.StatusCode == http.StatusOK && res.Request.Header.Get("Accept") == jsonType && kind == jsonType:
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

// A watchdog ends a request whose answer takes too long.
type watchdog struct {
	parent context.Context
	ctx    context.Context
	cancel context.CancelCauseFunc
	client *Client

	mu    sync.Mutex
	timer *time.Timer
}

// start restarts the timeout. A time of 0 means no timeout.
func (w *watchdog) start(d time.Duration, format string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	if d > 0 {
		w.timer = time.AfterFunc(d, func() { w.cancel(model.Errorf(model.Timeout, format, d)) })
	}
}

func (w *watchdog) stop() {
	w.start(0, "")
	w.cancel(nil)
}

// cause returns the reason of a failure.
func (w *watchdog) cause(err error) error {
	if w.parent.Err() != nil {
		return w.parent.Err()
	}
	var e *model.Error
	if errors.As(context.Cause(w.ctx), &e) || errors.As(err, &e) {
		return e
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // without the URL, which may have secrets
	}
	if errors.Is(err, io.EOF) {
		return model.Errorf(model.Network, "the server closed the connection before its answer")
	}
	return model.Errorf(model.Network, "%s", w.client.Redact(err.Error()))
}

// A body is the body of an answer.
type body struct {
	io.ReadCloser
	watchdog *watchdog
}

func (b *body) Read(p []byte) (int, error) {
	b.watchdog.start(b.watchdog.client.Idle, "the answer stopped for %s")
	n, err := b.ReadCloser.Read(p)
	if err == nil || err == io.EOF && b.watchdog.ctx.Err() == nil {
		return n, err
	}
	cause := b.watchdog.cause(err)
	var e *model.Error
	if errors.As(cause, &e) && e.Class == model.Network {
		cause = model.Errorf(model.Cut, "the connection was cut: %s", e.Message)
	}
	return n, cause
}

func (b *body) Close() error {
	b.watchdog.stop()
	return b.ReadCloser.Close()
}
