package hook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	maxAnswer = 64 << 10  // bytes of an answer that are read
	maxWait   = time.Hour // of Retry-After
)

// A poster sends notifications to a URL.
type poster struct {
	url    string
	secret []byte
	client *http.Client
}

func newPoster(h *Hook) *poster {
	return &poster{url: h.URL, secret: h.Secret, client: &http.Client{
		Timeout: h.Limits.Timeout,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
			MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxAnswer,
			ForceAttemptHTTP2: true,
		},
		// A redirect would send the notification to a URL that is not in the configuration.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (p *poster) send(ctx context.Context, id string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return failf("invalid url")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "agentctl-hook")
	sign(r.Header, p.secret, id, time.Now(), body)
	answer, err := p.client.Do(r)
	if err != nil {
		f := failf("%v", withoutURL(err))
		f.absent = true
		return f
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer) // so that the connection can be used again
	if answer.StatusCode/100 == 2 {
		return nil
	}
	f := failf("the receiver answers %d", answer.StatusCode)
	switch answer.StatusCode {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		f.final = true
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		f.absent = true
	}
	f.waiting = retryAfter(answer.Header.Get("Retry-After"), time.Now())
	return f
}

func (p *poster) close() { p.client.CloseIdleConnections() }

// withoutURL returns an error of a request without its URL, which may hold a secret.
func withoutURL(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return u.Err
	}
	return err
}

// retryAfter returns the time of a Retry-After header, at most maxWait; 0 for none.
func retryAfter(header string, now time.Time) time.Duration {
	wait := time.Duration(0)
	if seconds, err := strconv.Atoi(header); err == nil {
		wait = time.Duration(min(max(seconds, 0), int(maxWait/time.Second))) * time.Second
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), maxWait)
}

// Headers of a POST, from the Standard Webhooks specification.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
)

// secretPrefix begins a secret in base64; any other secret is its bytes.
const secretPrefix = "whsec_"

// key returns the key of a secret.
func key(secret []byte) []byte {
	if encoded, ok := strings.CutPrefix(string(secret), secretPrefix); ok {
		if k, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			return k
		}
	}
	return secret
}

// sign sets the headers of a POST: HMAC-SHA256 over the id, the time and the body.
func sign(h http.Header, secret []byte, id string, at time.Time, body []byte) {
	seconds := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, key(secret))
	mac.Write([]byte(id + "." + seconds + "."))
	mac.Write(body)
	h.Set(headerID, id)
	h.Set(headerTimestamp, seconds)
	h.Set(headerSignature, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
