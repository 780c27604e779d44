package transport

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/redact"
	"agentctl/server/agent/llm/model"
)

func TestErrorsAreDecodedInEveryForm(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		class  model.Class
		text   string
		after  time.Duration
	}{
		{400, `{"error":{"message":"too long","code":"context_length_exceeded"}}`, model.Context, "too long", 0},
		{
			429, `{"error":{"message":"Rate limit. Please try again in 1.2s.","code":"rate_limit_exceeded"}}`, model.RateLimit,
			"Rate limit. Please try again in 1.2s.", 1200 * time.Millisecond,
		},
		{429, `{"error":{"message":"no money","code":"insufficient_quota"}}`, model.Quota, "no money", 0},
		{
			429, `{"error":{"type":"usage_limit_reached","message":"used up","resets_at":1795898875,"resets_in_seconds":10800}}`,
			model.Quota, "used up", 3 * time.Hour,
		},
		{
			429, `{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[` +
				`{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"retryDelay":"31s"}]}}`,
			model.Quota, "quota", 0,
		},
		{
			429, `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan","status":"RESOURCE_EXHAUSTED",` +
				`"details":[{"violations":[{"quotaId":"GenerateRequestsPerMinutePerProject"}]},{"retryDelay":"31s"}]}}`,
			model.RateLimit, "You exceeded your current quota, please check your plan", 31 * time.Second,
		},
		{
			529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, model.Overloaded,
			"Overloaded", 0,
		},
		{
			429, `[{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"31s"}]}}]`,
			model.RateLimit, "quota", 31 * time.Second,
		},
		{
			400, `{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}`, model.Auth,
			"API key not valid", 0,
		},
		{404, `{"error":"model 'x' not found"}`, model.NoModel, "model 'x' not found", 0},
		{422, `{"detail":"bad field"}`, model.Invalid, "bad field", 0},
		{500, `<html>`, model.ServerFail, "the provider failed: Internal Server Error", 0},
		{200, `{"error":{"message":"upstream","code":502}}`, model.ServerFail, "upstream", 0},
		{200, `{"type":"error","code":"rate_limit_exceeded","message":"slow"}`, model.RateLimit, "slow", 0},
		{200, `{"choices":[]}`, "", "", 0},
		{413, ``, model.Context, "the provider failed: Request Entity Too Large", 0},
		{401, `{"error":{"message":null}}`, model.Auth, "the provider failed: Unauthorized", 0},
	} {
		e := DecodeError(c.status, http.Header{}, []byte(c.body))
		if e.Class != c.class || e.Message != c.text || e.After != c.after {
			t.Errorf("%d %s: class %q, %q, after %s", c.status, c.body, e.Class, e.Message, e.After)
		}
	}
}

func TestTheDelayOfTheHeaderComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		soon := time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)
		for name, c := range map[string]struct {
			header http.Header
			want   time.Duration
		}{
			"seconds":      {http.Header{"Retry-After": {"7"}}, 7 * time.Second},
			"milliseconds": {http.Header{"Retry-After-Ms": {"350"}, "Retry-After": {"1"}}, 350 * time.Millisecond},
			"a date":       {http.Header{"Retry-After": {soon}}, time.Minute},
			"the past":     {http.Header{"Retry-After": {"Fri, 01 Jan 1999 15:04:05 GMT"}}, 0},
			"too large":    {http.Header{"Retry-After": {"1e300"}}, maxAfter},
			"nonsense":     {http.Header{"Retry-After": {"soon"}}, 0},
		} {
			if got := retryAfter(c.header, &failure{}, ""); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	})
}

type refused struct{}

func (refused) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("dial model.example: refused, with key-0123456789")
}

func TestAnErrorOfTheNetworkHasNeitherAddressNorSecret(t *testing.T) {
	c := &Client{Base: refused{}, Secrets: []string{"key-0123456789"}}
	res, err := c.do(t.Context(), http.MethodPost, "https://model.example/?key=secret", nil)
	if err == nil {
		_ = res.Body.Close()
	}
	var e *model.Error
	if !errors.As(err, &e) || e.Class != model.Network || e.Message != "dial model.example: refused, with [secret]" {
		t.Errorf("%v", err)
	}
}

func TestAMessageThatIsCutHasNoPartOfASecret(t *testing.T) {
	const secret = "sk-0123456789abcdef"
	c := &Client{Secrets: []string{secret}}
	for before := maxMessage - len(secret) - 2; before < maxMessage; before++ {
		text := `{"error":{"message":"` + strings.Repeat("x", before) + secret + ` is wrong"}}`
		got := c.Redact(DecodeError(401, http.Header{}, []byte(text)).Message)
		if strings.Contains(got, secret[:redact.MinPart]) {
			t.Errorf("after %d bytes: %s", before, got[before:])
		}
	}
}

func TestAShortSecretHidesNoWord(t *testing.T) {
	c := &Client{Secrets: []string{"k", "lookup", "12345678"}}
	if got := c.Redact("lookup of 12345678 looks bad: look"); got != "lookup of [secret] looks bad: look" {
		t.Errorf("got %q", got)
	}
}

func FuzzDecodeError(f *testing.F) {
	f.Add(429, []byte(`{"error":{"message":"try again in 1.2s","details":[{"retryDelay":"1s"}]}}`))
	f.Add(200, []byte(`[{"error":"x"}]`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		e := DecodeError(status, http.Header{}, body)
		if e.After < 0 || len(e.Message) > maxMessage || status >= 400 && (e.Class == "" || e.Message == "") {
			t.Errorf("%+v", e)
		}
	})
}
