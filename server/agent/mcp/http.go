package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
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
		left = -1 // the SDK bounds each event
	}
	answer.Body = &boundedBody{body: answer.Body, left: left, release: release}
	return answer, nil
}

// A boundedBody is a body of at most left bytes; negative: of any length.
type boundedBody struct {
	body    io.ReadCloser
	left    int64
	release func()
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return b.body.Read(p)
	}
	if b.left == 0 { // the next byte is one too many
		n, err := b.body.Read(make([]byte, 1))
		if n > 0 {
			err = fmt.Errorf("the answer is larger than %d MiB", maxHTTPMessage>>20)
		}
		return 0, err
	}
	n, err := b.body.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

func (b *boundedBody) Close() error {
	defer b.release()
	return b.body.Close()
}
