package credentials

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/server/login"
)

const (
	loginTimeout   = 30 * time.Second // for a server to check a password
	maxLoginAnswer = 64 << 10         // bytes
)

// An Endpoint is where users log in to a server: a path at its root, independent of the path in the
// server's URL.
type Endpoint struct {
	url    *url.URL
	client *http.Client
}

// NewEndpoint returns the endpoint of the server at a URL. trust is the TLS configuration; nil: the
// system's.
func NewEndpoint(server string, trust *tls.Config) (*Endpoint, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" {
		return nil, exit.Usagef("--server is not the URL of a server")
	}
	e := &Endpoint{url: &url.URL{Scheme: "http", Host: u.Host, Path: login.Path}}
	if u.Scheme == "wss" || u.Scheme == "https" {
		e.url.Scheme = "https"
	}
	e.client = &http.Client{
		Transport: &http.Transport{
			DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment, TLSClientConfig: trust,
		},
		Timeout: loginTimeout,
		// A redirect must not receive the password.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return e, nil
}

// Host returns the host and port.
func (e *Endpoint) Host() string { return e.url.Host }

// Exposed reports whether a password would leave this machine unencrypted.
func (e *Endpoint) Exposed() bool {
	host := e.url.Hostname()
	ip := net.ParseIP(host)
	return e.url.Scheme == "http" && host != "localhost" && (ip == nil || !ip.IsLoopback())
}

// Login exchanges a password for a credential. Only Token and Role of the result are set.
func (e *Endpoint) Login(ctx context.Context, user, password string) (Login, error) {
	body := protocol.MustEncode(map[string]string{"username": user, "password": password})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url.String(), bytes.NewReader(body))
	if err != nil {
		return Login{}, fmt.Errorf("log in: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := e.client.Do(req)
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return Login{}, exit.Errorf(exit.Unreachable, exit.CodeUntrusted, "log in: %w", untrusted.Err).
			WithHint("%s", exit.HintFor(exit.CodeUntrusted))
	}
	if err != nil {
		return Login{}, exit.Unreachablef("log in: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxLoginAnswer))
	if err != nil {
		return Login{}, exit.Unreachablef("log in: %w", err)
	}
	var answer struct {
		Token  string `json:"access_token"`
		Role   string `json:"role"`
		Detail any    `json:"detail"`
	}
	_ = json.Unmarshal(b, &answer) // an answer that is not JSON is handled by its status
	switch {
	case resp.StatusCode == http.StatusOK && answer.Token != "":
		return Login{Token: answer.Token, Role: answer.Role}, nil
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden:
		return Login{}, exit.Errorf(exit.Forbidden, protocol.CodeUnauthorized, "wrong user name or password")
	case resp.StatusCode == http.StatusTooManyRequests:
		return Login{}, exit.Errorf(exit.Failure, protocol.CodeTooMany, "too many wrong passwords at %s", e.Host()).
			WithHint("try again in a few seconds")
	case resp.StatusCode == http.StatusNotFound:
		return Login{}, exit.Errorf(exit.Failure, protocol.CodeNotFound, "%s has no users to log in", e.Host()).
			WithHint("add users to the server: agentctl serve --users FILE")
	}
	detail, _ := answer.Detail.(string)
	return Login{}, exit.Errorf(exit.Failure, exit.CodeFailed, "log in: %s",
		strings.TrimSuffix(fmt.Sprintf("HTTP %d: %s", resp.StatusCode, detail), ": "))
}
