package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

// signed is a signed token in JWT form.
const signed = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJlLW9mLWFkYQ"

func TestAMessageHasNoCredential(t *testing.T) {
	r := NewMessages([]string{"the-clients-own", ""})
	for _, c := range []struct{ name, text, secret string }{
		{"the client's token, anywhere", `{"data":{"text":"the-clients-own"}}`, "the-clients-own"},
		{"a token by its name", `{"token":"abc"}`, "abc"},
		{"a token with quotes in it", `{"token":"ab\"cd"}`, `cd`},
		{"a login's response", `{"access_token":"opaque123","token_type":"bearer"}`, "opaque123"},
		{"camel case", `{"accessToken" : "opaque123"}`, "opaque123"},
		{"capitals", `{"Authorization":"Bearer abcdefghijk"}`, "abcdefghijk"},
		{"a header", "Authorization: Bearer abcdefghijk", "abcdefghijk"},
		{"a password", `{"username":"ada","password":"hunter2"}`, "hunter2"},
		{"an API key of an environment", `{"env":{"OPENAI_API_KEY":"sk-123"}}`, "sk-123"},
		{"JSON within a string", `{"payload":"{\"token\":\"abc9\",\"a\":1}"}`, "abc9"},
		{"JSON within a string within a string", `{"p":"{\"q\":\"{\\\"token\\\":\\\"abc9\\\"}\"}"}`, "abc9"},
		{"several by name", `{"answers":{"password":["hunter2"]}}`, "hunter2"},
		{
			"answers to secret questions", `{"input":{"secrets":{"pin":["ab\"}\\c","hunter2"],"b":["x"]}},"a":1}`,
			"hunter2",
		},
		{"within a string", `{"p":"{\"secrets\":{\"pin\":[\"hunter2\"]},\"a\":1}"}`, "hunter2"},
		{
			"the query of a page", `{"result":{"request":"r","page_url":"https://a.example/b?x=hunter2&y"},"a":1}`,
			"hunter2",
		},
		{"the fragment of a page", `{"page_url":"https://a.example/b#hunter2"}`, "hunter2"},
		{"of a page within a string", `{"p":"{\"page_url\":\"https://a.example/b?hunter2\",\"a\":1}"}`, "hunter2"},
		{"a parameter of a URL", `{"url":"wss://host/ws?a=1&token=abc9&b=2"}`, "abc9"},
		{"a signed token, anywhere", `{"data":"` + signed + `"}`, signed[30:]},
	} {
		got := string(r.Redact([]byte(c.text)))
		if strings.Contains(got, c.secret) || !strings.Contains(got, MessageMark) && !strings.Contains(got, "{}") {
			t.Errorf("%s: got %s, want %q redacted", c.name, got, c.secret)
		}
		if json.Valid([]byte(c.text)) && !json.Valid([]byte(got)) {
			t.Errorf("%s: no longer JSON: %s", c.name, got)
		}
	}
}

func TestOtherTextOfAMessageStays(t *testing.T) {
	r := NewMessages([]string{""})
	for _, text := range []string{
		`{"id":"1","command":"send","key":"ABCDEF","data":{"text":"my token is nice"}}`,
		`{"data":{"max_tokens":4096,"tokens":12,"usage":{"input_tokens":3}}}`,
		`{"text":"a basic idea of an API, a secret garden"}`,
		`{"path":"/api/keys?monkey=1"}`,
	} {
		if got := string(r.Redact([]byte(text))); got != text {
			t.Errorf("got %s, want %s", got, text)
		}
	}
}

func FuzzMessages(f *testing.F) {
	f.Add(`{"token":"abc"}`, "own-secret")
	f.Add(`{"a":"{\"password\":\"x\\\\\"}"}`, "x")
	f.Add("Bearer "+signed, "Bearer")
	f.Add("\x00", "\x00")
	f.Fuzz(func(t *testing.T, text, secret string) {
		got := NewMessages([]string{secret}).Redact([]byte(text))
		for part := range strings.SplitSeq(string(got), MessageMark) {
			if secret != "" && strings.Contains(part, secret) {
				t.Errorf("%q is still in %q", secret, got)
			}
		}
		if again := NewMessages([]string{""}).Redact([]byte(text)); json.Valid([]byte(text)) && !json.Valid(again) {
			t.Errorf("%s is JSON, %s is not", text, again)
		}
	})
}
