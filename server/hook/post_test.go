package hook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

var secret = []byte("0123456789abcdef0123456789abcdef")

func newTestPoster(url string, timeout time.Duration) *poster {
	h := &Hook{Name: "n", URL: url, Secret: secret, Limits: Limits{Timeout: timeout}}
	h.defaults()
	return newPoster(h)
}

func TestAPostIsSigned(t *testing.T) {
	var problem string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, secret)
		fmt.Fprintf(mac, "%s.%s.%s", r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp"), body)
		if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); r.Header.Get("webhook-signature") != want ||
			r.Header.Get("webhook-id") != "id1" || r.Method != http.MethodPost || string(body) != `{"a":1}` {
			problem = r.Header.Get("webhook-signature") + ", want " + want
		}
	}))
	defer server.Close()
	p := newTestPoster(server.URL, 0)
	defer p.client.CloseIdleConnections()
	if err := p.send(t.Context(), "id1", []byte(`{"a":1}`)); err != nil || problem != "" {
		t.Errorf("%v %s", err, problem)
	}
}

// The example of the Standard Webhooks specification.
func TestTheSignatureIsThatOfTheSpecification(t *testing.T) {
	h := http.Header{}
	sign(h, []byte("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "msg_p5jXN8AQM9LWM0D4loKWxJek",
		time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if got := h.Get(headerSignature); got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Error(got)
	}
}

func TestAnswersOfReceivers(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a redirect was followed")
	}))
	defer elsewhere.Close()
	for name, c := range map[string]struct {
		answer        http.HandlerFunc
		ok            bool
		final, absent bool
		waiting       time.Duration
	}{
		"no content": {answer: status(204), ok: true},
		"an error":   {answer: status(500)},
		"not found":  {answer: status(404)},
		"bad":        {answer: status(400), final: true},
		"too large":  {answer: status(413), final: true},
		"a proxy":    {answer: status(502), absent: true},
		"later": {answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(429)
		}, absent: true, waiting: 2 * time.Minute},
		"much later": {answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "99999999999")
			w.WriteHeader(503)
		}, absent: true, waiting: maxWait},
		"a redirect": {answer: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}},
		"an endless answer": {answer: func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}, ok: true},
		"endless headers": {answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 10*maxAnswer))
		}, absent: true},
		"garbage": {answer: func(w http.ResponseWriter, _ *http.Request) {
			c, _, _ := w.(http.Hijacker).Hijack()
			_, _ = io.WriteString(c, "\x00\xff garbage\r\n\r\n")
			_ = c.Close()
		}, absent: true},
		"nothing": {answer: func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // then the server sees that the client leaves
			<-r.Context().Done()
		}, absent: true},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.answer)
			defer server.Close()
			timeout := time.Minute
			if name == "nothing" {
				timeout = 300 * time.Millisecond
			}
			p := newTestPoster(server.URL+"/private-path", timeout)
			defer p.client.CloseIdleConnections()
			err := p.send(t.Context(), "id", []byte("{}"))
			if c.ok {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var f *failure
			if !errors.As(err, &f) || name != "nothing" && name != "garbage" && f.final != c.final ||
				f.absent != c.absent || f.waiting != c.waiting {
				t.Errorf("%+v", f)
			}
			if f != nil && strings.Contains(f.reason, "private-path") {
				t.Errorf("the error has the URL: %s", f.reason)
			}
		})
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func TestAPostEndsWithItsHook(t *testing.T) {
	arrived := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(arrived)
		<-r.Context().Done()
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	p := newTestPoster(server.URL, time.Minute)
	defer p.client.CloseIdleConnections()
	if err := p.send(ctx, "id", nil); err == nil {
		t.Error("sent")
	}
}
