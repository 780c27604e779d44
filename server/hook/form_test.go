package hook

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"agentctl/protocol"
)

func number(n float64) *float64 { return &n }

// newForm returns a request with a question of each kind, and the path of the link of its form.
func newForm(t *testing.T) (l *linked, path string) {
	t.Helper()
	l = newLinked(t, 0, func(a *protocol.Approval) {
		a.Kind, a.Command = protocol.ApproveQuestion, ""
		a.Questions = []protocol.Question{
			{
				ID: "city", Text: "City\u202e", About: "<b>about</b>", Choices: []protocol.Choice{
					{ID: "b", Label: "Berlin"}, {ID: "m", Label: "Munich", About: "south"},
				},
				Field: protocol.Field{Closed: true, Default: []string{"m"}},
			},
			{ID: "size", Text: "Size", Field: protocol.Field{Type: "integer", Required: true, Max: number(9)}},
			{ID: "pw", Text: "Password", Field: protocol.Field{Secret: true}},
			{
				ID: "days", Text: "Days", Many: true,
				Choices: []protocol.Choice{{ID: "mo", Label: "Mo"}, {ID: "tu", Label: "Tu"}},
			},
		}
	})
	path = strings.TrimPrefix(l.approval.Links["answer"], "https://me.example/agentctl")
	if !strings.HasPrefix(path, Path) || l.approval.Links[string(protocol.AllowOnce)] != "" || l.approval.Answers != nil {
		t.Fatalf("%+v", l.approval)
	}
	return l, path
}

// post posts a form to a link.
func (l *linked) post(path string, form url.Values) (int, string) {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "https://me.example")
	w := httptest.NewRecorder()
	l.hooks.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func TestALinkAnswersWithAForm(t *testing.T) {
	l, path := newForm(t)
	_, page := l.request(http.MethodGet, path)
	for _, want := range []string{
		"Answer this request?", "<legend>City&lt;U&#43;202E&gt;</legend>", "&lt;b&gt;about&lt;/b&gt;", "default: Munich",
		`type="radio" name="q0" value="1" checked> Munich — south`, "required · integer · at most 9",
		`type="text" name="q1"`, "required>", `type="password" name="q2"`, `type="checkbox" name="q3"`, `name="q3t"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if strings.Contains(page, `name="q0t"`) {
		t.Error("a closed question takes another answer")
	}
	// A wrong answer decides nothing and is asked for again. The secret is not repeated.
	form := url.Values{
		"form": {"1"}, "q0": {"0"}, "q1": {"12"}, "q2": {"hunter2"}, "q3": {"0", "1"}, "q3t": {"<later>"},
	}
	code, page := l.post(path, form)
	if code != http.StatusUnprocessableEntity || !strings.Contains(html.UnescapeString(page), `answer "size": want at most 9`) ||
		!strings.Contains(page, `value="12"`) || !strings.Contains(page, `value="&lt;later&gt;"`) || strings.Contains(page, "hunter2") ||
		!strings.Contains(page, `value="0" checked> Berlin`) || len(l.sessions.decisions()) != 0 {
		t.Errorf("%d\n%s", code, page)
	}
	form.Set("q1", "7")
	if code, page := l.post(path, form); code != http.StatusOK || !strings.Contains(page, "Answered.") {
		t.Errorf("%d\n%s", code, page)
	}
	got := l.sessions.decisions()
	if len(got) != 1 || got[0].answers != `{"city":["b"],"days":["mo","tu","<later>"],"size":["7"]}` ||
		got[0].secrets != `{"pw":["hunter2"]}` {
		t.Errorf("%+v", got)
	}
	if code, _ := l.post(path, form); code != http.StatusNotFound {
		t.Errorf("again: %d", code)
	}
}

// A program that posts to every link, as some do with buttons, does not answer.
func TestAPostWithoutTheFormDecidesNothing(t *testing.T) {
	l, path := newForm(t)
	for name, form := range map[string]url.Values{
		"empty": {}, "answers alone": {"q1": {"7"}}, "too large": {"form": {"1"}, "q1": {strings.Repeat("7", maxForm)}},
	} {
		code, page := l.post(path, form)
		if code != http.StatusBadRequest || !strings.Contains(page, "fill in the form") || len(l.sessions.decisions()) != 0 {
			t.Errorf("%s: %d\n%.300s", name, code, page)
		}
	}
}

// A link does not say that a page was opened: its notification and page do not have the URL.
func TestAPageIsNotOpenedByALink(t *testing.T) {
	l := newLinked(t, 0, func(a *protocol.Approval) {
		a.Kind, a.Page = protocol.ApproveQuestion, &protocol.Page{
			URL: "https://login.example/a", Host: "login.example", Hidden: true,
		}
	})
	if len(l.approval.Links) != 1 || l.approval.Links[string(protocol.Deny)] == "" || l.approval.Answers != nil {
		t.Errorf("%+v", l.approval.Links)
	}
}
