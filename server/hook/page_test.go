package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentctl/protocol"
)

// A linked is a pending request with its links.
type linked struct {
	*rig
	approval *Approval
}

func newLinked(t *testing.T, expires time.Duration, change func(*protocol.Approval)) *linked {
	t.Helper()
	r := newRig(t, Hook{Links: Links{Base: "https://me.example/agentctl", Expires: expires}})
	r.sessions.create("s_1", nil)
	a := newRequest("r1")
	if change != nil {
		change(&a)
	}
	r.sessions.ask("s_1", a)
	r.start()
	t.Cleanup(r.close)
	approval, err := r.hooks.active["phone"].runner.pending("s_1", &a)
	if err != nil {
		t.Fatal(err)
	}
	return &linked{r, approval}
}

// path returns the path of a link on the server.
func (l *linked) path(d protocol.Decision) string {
	u, err := url.Parse(l.approval.Links[string(d)])
	if err != nil || !strings.HasPrefix(u.Path, "/agentctl"+Path) {
		l.t.Fatalf("link %q, %v", l.approval.Links[string(d)], err)
	}
	return strings.TrimPrefix(u.Path, "/agentctl")
}

// request requests a link, with headers as KEY, VALUE.
func (l *linked) request(method, path string, headers ...string) (int, string) {
	r := httptest.NewRequest(method, path, http.NoBody)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	if !l.hooks.Serves(path) {
		return 0, ""
	}
	l.hooks.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func TestALinkShowsTheRequestAndDecidesItOnce(t *testing.T) {
	for d, done := range map[protocol.Decision]string{protocol.AllowOnce: "Allowed once", protocol.Deny: "Denied"} {
		l := newLinked(t, 0, nil)
		path := l.path(d)
		for range 3 { // previews of links
			if code, page := l.request(http.MethodGet, path); code != 200 || !strings.Contains(page, "rm -rf build") {
				t.Fatalf("%d\n%s", code, page)
			}
		}
		if code, _ := l.request(http.MethodHead, path); code != 200 || len(l.sessions.decisions()) != 0 {
			t.Fatal("showing the request decided it")
		}
		if code, page := l.request(http.MethodPost, path, "Origin", "https://me.example"); code != 200 ||
			!strings.Contains(page, done) {
			t.Fatalf("%d\n%s", code, page)
		}
		if got := l.sessions.decisions(); len(got) != 1 || got[0].decision != d ||
			got[0].request != "r1" || got[0].by != actor("phone") || got[0].answers != "" {
			t.Errorf("%+v", got)
		}
		for _, path := range []string{path, l.path(protocol.AllowOnce), l.path(protocol.Deny)} { // its sibling too
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				if code, page := l.request(method, path); code != 404 || strings.Contains(page, "rm -rf") {
					t.Errorf("%s again: %d\n%s", method, code, page)
				}
			}
		}
		if left, _ := os.ReadDir(filepath.Join(l.dir, "links")); len(left) != 0 {
			t.Errorf("%d links are left", len(left))
		}
	}
}

func TestOneOfManyUsesOfALinkDecides(t *testing.T) {
	l := newLinked(t, 0, nil)
	var ok sync.Map
	var uses sync.WaitGroup
	for i := range 20 {
		path := l.path([]protocol.Decision{protocol.AllowOnce, protocol.Deny}[i%2])
		uses.Go(func() {
			if code, _ := l.request(http.MethodPost, path); code == 200 {
				ok.Store(i, true)
			}
		})
	}
	uses.Wait()
	n := 0
	ok.Range(func(any, any) bool { n++; return true })
	if n != 1 || len(l.sessions.decisions()) != 1 {
		t.Errorf("%d uses decided, %d decisions", n, len(l.sessions.decisions()))
	}
}

// A session that is slow to decide does not keep the links of others waiting.
func TestADecisionBlocksNoOtherLink(t *testing.T) {
	slow := newLinked(t, 0, nil)
	slow.sessions.create("s_2", nil)
	a := newRequest("r2")
	slow.sessions.ask("s_2", a)
	approval, err := slow.hooks.active["phone"].runner.pending("s_2", &a)
	if err != nil {
		t.Fatal(err)
	}
	quick := &linked{slow.rig, approval}
	entered, release := make(chan struct{}), make(chan struct{})
	slow.sessions.setSlow(func(id string) {
		if id == "s_1" {
			close(entered)
			<-release
		}
	})
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if code, page := slow.request(http.MethodPost, slow.path(protocol.Deny)); code != http.StatusOK {
			t.Errorf("the slow one: %d\n%s", code, page)
		}
	})
	<-entered
	done := make(chan int, 1)
	go func() {
		code, _ := quick.request(http.MethodPost, quick.path(protocol.Deny))
		done <- code
	}()
	select {
	case code := <-done:
		if code != http.StatusOK {
			t.Errorf("the other: status %d", code)
		}
	case <-time.After(30 * time.Second):
		t.Error("the other link waits for the first")
	}
	close(release)
	waiting.Wait()
}

func TestALinkThatIsNotValidDecidesNothing(t *testing.T) {
	for name, path := range map[string]func(l *linked) string{
		"unknown":   func(*linked) string { return Path + strings.Repeat("0", 32) },
		"empty":     func(*linked) string { return Path },
		"shortened": func(l *linked) string { p := l.path(protocol.Deny); return p[:len(p)-1] },
		"longer":    func(l *linked) string { return l.path(protocol.Deny) + "0" },
		"a file":    func(*linked) string { return Path + "../phone.positions" },
		"its hash": func(l *linked) string {
			return Path + hashToken(strings.TrimPrefix(l.path(protocol.Deny), Path))
		},
		"another request": func(l *linked) string { // under the same id, as after a lost end of the log
			l.sessions.pending["s_1"][0].Command = "rm -rf /"
			return l.path(protocol.AllowOnce)
		},
		"decided": func(l *linked) string {
			l.sessions.pending["s_1"] = nil
			return l.path(protocol.AllowOnce)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLinked(t, 0, nil)
			p := path(l)
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				if code, page := l.request(method, p); code != 404 && code != 409 || strings.Contains(page, "rm -rf") {
					t.Errorf("%s: %d\n%s", method, code, page)
				}
			}
			if got := l.sessions.decisions(); len(got) != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestAnExpiredLinkDecidesNothing(t *testing.T) {
	l := newLinked(t, time.Nanosecond, nil)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if code, _ := l.request(method, l.path(protocol.AllowOnce)); code != 404 {
			t.Errorf("%s: %d", method, code)
		}
	}
	l.hooks.links.pruned = time.Time{}
	l.hooks.links.prune(time.Now())
	if left, _ := os.ReadDir(filepath.Join(l.dir, "links")); len(left) != 0 || len(l.sessions.decisions()) != 0 {
		t.Errorf("%d links are left", len(left))
	}
}

func TestPagesOfOtherSitesDoNotDecide(t *testing.T) {
	for _, headers := range [][]string{
		{"Origin", "https://evil.example"},
		{"Origin", "null"},
		{"Origin", "https://me.example.evil.example"},
		{"Origin", "http://me.example"},
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
	} {
		l := newLinked(t, 0, nil)
		if code, _ := l.request(http.MethodPost, l.path(protocol.AllowOnce), headers...); code != 403 ||
			len(l.sessions.decisions()) != 0 {
			t.Errorf("%v: %d", headers, code)
		}
		if code, _ := l.request(http.MethodPut, l.path(protocol.AllowOnce)); code != 405 {
			t.Errorf("PUT: %d", code)
		}
	}
}

func TestALinkAllowsOnlyWhatCanBeShown(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*protocol.Approval)
		allow  bool
	}{
		"a command": {func(*protocol.Approval) {}, true},
		"a blob": {func(a *protocol.Approval) {
			a.Content = []protocol.Content{{Type: "other", Blob: "b_1", Bytes: 70_000}}
		}, false},
		"a question": {func(a *protocol.Approval) {
			a.Questions = []protocol.Question{{ID: "q", Text: "Which?"}}
		}, false},
		"no option to allow": {func(a *protocol.Approval) { a.Options = a.Options[1:] }, false},
	} {
		l := newLinked(t, 0, c.change)
		_, allow := l.approval.Links[string(protocol.AllowOnce)]
		_, deny := l.approval.Links[string(protocol.Deny)]
		if allow != c.allow || !deny || (name == "a blob") != (l.approval.Missing == 70_000) {
			t.Errorf("%s: %+v", name, l.approval)
		}
	}
}

func TestALinkAnswersAQuestionWithAChoice(t *testing.T) {
	l := newLinked(t, 0, func(a *protocol.Approval) {
		a.Questions = []protocol.Question{{ID: "db", Text: "Which?", Choices: []protocol.Choice{
			{ID: "pg", Label: "Postgres"}, {ID: "lite", Label: "SQLite\u202e"},
		}}}
	})
	if want := []string{"agentctl", "approve", "--answer", "1=1", "--", "s_1", "r1"}; !slices.Equal(
		l.approval.AnswerCommand, want) {
		t.Errorf("command %q", l.approval.AnswerCommand)
	}
	if len(l.approval.Answers) != 2 || l.approval.Links[string(protocol.AllowOnce)] != "" {
		t.Fatalf("%+v", l.approval)
	}
	answer := l.approval.Answers[1]
	path := strings.TrimPrefix(answer.URL, "https://me.example/agentctl")
	_, page := l.request(http.MethodGet, path)
	if answer.Question != "db" || answer.Choice != "lite" || !strings.Contains(page, "Give this answer?") ||
		!strings.Contains(html.UnescapeString(page), "Answer: SQLite<U+202E></button>") {
		t.Errorf("%+v\n%s", answer, page)
	}
	if code, page := l.request(http.MethodPost, path); code != 200 || !strings.Contains(page, "Answered.") {
		t.Errorf("%d\n%s", code, page)
	}
	got := l.sessions.decisions()
	if len(got) != 1 || got[0].decision != protocol.AllowOnce || got[0].answers != `{"db":["lite"]}` {
		t.Errorf("%+v", got)
	}
	for _, a := range l.approval.Answers {
		path := strings.TrimPrefix(a.URL, "https://me.example/agentctl")
		if code, _ := l.request(http.MethodPost, path); code != 404 {
			t.Errorf("%s afterwards: %d", a.Choice, code)
		}
	}
}

func TestQuestionsWithoutLinksSayHowToAnswer(t *testing.T) {
	choices := []protocol.Choice{{ID: "a", Label: "A"}}
	for name, c := range map[string]struct {
		questions []protocol.Question
		want      string
		links     int // to deny, and to the form
	}{
		"free text": {[]protocol.Question{{ID: "q", Text: "Why?"}}, "--answer 1=TEXT -- s_1 r1", 2},
		"two": {
			[]protocol.Question{{ID: "q", Choices: choices}, {ID: "2 $(x)"}},
			"--answer 1=1 --answer 2=TEXT -- s_1 r1", 2,
		},
		"no id": {
			[]protocol.Question{{ID: "q", Choices: []protocol.Choice{{Label: "A"}}}}, "--answer 1=1 -- s_1 r1", 1,
		},
		"too many": {[]protocol.Question{{ID: "q", Choices: slices.Repeat(choices, 11)}}, "--answer 1=1 -- s_1 r1", 2},
	} {
		l := newLinked(t, 0, func(a *protocol.Approval) { a.Questions = c.questions })
		if got := strings.Join(l.approval.AnswerCommand, " "); got != "agentctl approve "+c.want ||
			l.approval.Answers != nil || len(l.approval.Links) != c.links {
			t.Errorf("%s: %q, %+v", name, got, l.approval)
		}
	}
}

func TestThePageHidesNothing(t *testing.T) {
	l := newLinked(t, 0, func(a *protocol.Approval) {
		a.Command = "echo \u202egnp.\u200b\u2060a\u3164 </pre><script>alert(1)</script>\x1b[2J"
		a.Why = strings.Repeat("long ", 10_000)
		a.Input = []byte(`{"nested":{"url":"https://x/?a=<b>&c"}}`)
	})
	_, page := l.request(http.MethodGet, l.path(protocol.AllowOnce))
	shown := html.UnescapeString(page)
	for _, want := range []string{
		"<U+202E>gnp.<U+200B><U+2060>a<U+3164>", "<U+001B>", "</pre><script>alert(1)", "https://x/?a=<b>&c",
		strings.Repeat("long ", 10_000), "nested", "cwd", "options",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page lacks %.60q", want)
		}
	}
	sum := sha256.Sum256(sent(t, l.approval))
	if hex.EncodeToString(sum[:]) != l.approval.Digest {
		t.Error("the digest does not match the sent request")
	}
	if strings.Contains(page, "<script") {
		t.Error("text of the agent is markup")
	}
}

// sent returns the request of an approval as a receiver reads it.
func sent(t *testing.T, a *Approval) json.RawMessage {
	t.Helper()
	var n struct {
		Approval struct{ Request json.RawMessage }
	}
	if err := json.Unmarshal(protocol.MustEncode(Notification{Approval: a}), &n); err != nil {
		t.Fatal(err)
	}
	return n.Approval.Request
}

// The directory of links does not help to use one.
func TestLinksAreStoredAsHashes(t *testing.T) {
	l := newLinked(t, 0, nil)
	token := strings.TrimPrefix(l.path(protocol.AllowOnce), Path)
	if len(token) != 2*tokenBytes {
		t.Errorf("the token %q is not of 128 bits", token)
	}
	dir := filepath.Join(l.dir, "links")
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		info, _ := f.Info()
		if err != nil || strings.Contains(f.Name()+string(b), token) || info.Mode().Perm() != 0o600 {
			t.Errorf("%s %s: %v", f.Name(), b, err)
		}
	}
	if len(files) != 2 {
		t.Errorf("%d links", len(files))
	}
}
