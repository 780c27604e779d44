package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// closeTimeout bounds the last request to a server.
const closeTimeout = time.Second

// dialURL returns a client of HTTP.
func (s *Server) dialURL() *link {
	base := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true,
		MaxResponseHeaderBytes: 64 << 10, IdleConnTimeout: time.Minute,
	}
	ctx, cancel := context.WithCancel(context.Background())
	client := &http.Client{
		Transport: &httpTransport{base: base, headers: s.Headers, ctx: ctx},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the server redirects: put the address of the target into the configuration")
		},
	}
	var timer *time.Timer
	stop := func() { timer = time.AfterFunc(closeTimeout, cancel) }
	end := func() {
		if timer != nil {
			timer.Stop()
		}
		cancel()
		base.CloseIdleConnections()
	}
	l := &link{stop: stop, end: end, stderr: func() string { return "" }}
	if s.Type == TypeSSE {
		l.transport = &sdk.SSEClientTransport{Endpoint: s.URL, HTTPClient: client}
	} else {
		l.transport = &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxRetries: 2}
	}
	return l
}

// An httpTransport adds headers to requests, bounds answers, and ends all of them with its context.
type httpTransport struct {
	base    *http.Transport
	headers map[string]string
	ctx     context.Context //nolint:containedctx // of all requests: the SDK detaches some from theirs
}

// RoundTrip implements http.RoundTripper.
func (t *httpTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(t.ctx, cancel)
	release := func() {
		stop()
		cancel()
	}
	r = r.Clone(ctx)
	for name, value := range t.headers {
		r.Header.Set(name, value)
	}
	answer, err := t.base.RoundTrip(r)
	if err != nil {
		release()
		return nil, err
	}
	left := int64(maxHTTPMessage)
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		left = math.MaxInt64 // the SDK bounds each event
	}
	answer.Body = &boundedBody{ReadCloser: answer.Body, left: left, release: release}
	return answer, nil
}

// A boundedBody is a body that fails to be read after more than left bytes.
type boundedBody struct {
	io.ReadCloser

	left    int64
	release func()
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return max(0, n+int(b.left)), fmt.Errorf("the answer is larger than %d MiB", maxHTTPMessage>>20)
	}
	return n, err
}

func (b *boundedBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}
