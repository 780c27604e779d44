package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"agentctl/internal/export"
	"agentctl/protocol"
	"agentctl/server"
	"agentctl/server/agent"
	"agentctl/server/agent/script"
	"agentctl/server/archive"
	"agentctl/server/session"
	"agentctl/server/sqlite"
	"agentctl/server/web"
)

const page = "../../../../docs/http.md"

// pageScript is the agent of the example.
var pageScript = []string{
	`{"agent":"A","settings":[{"id":"mode","value":"ask"},{"id":"model","value":"small"}]}`,
	`{"on":"make the tests pass"}`,
	`{"ask":"command","command":"make test","title":"Test"}`,
	`{"emit":"raw","data":{"source":"test","data":"` + strings.Repeat("x", 300<<10) + `"}}`,
	`{"say":"All tests pass."}`,
	`{"on":"deploy it"}`,
	`{"ask":"question","title":"Where?","questions":[{"id":"size","text":"Size","type":"integer","required":true,"max":9},` +
		`{"id":"password","text":"Password","secret":true}]}`,
	`{"on":"log in"}`,
	`{"ask":"question","title":"Log in","page":{"url":"https://login.example/authorize?state=8c1d","host":""}}`,
	`{"on":"plan the release"}`,
	`{"plan":"Q","parallel":3,"tasks":[{"id":"build","title":"Build","steps":[{"sleep":"1h"}]},` +
		`{"id":"test","title":"Test","steps":[{"ask":"tool","name":"t","title":"t"},{"sleep":"1h"}]}]}`,
	`{"on":"show everything"}`,
	`{"think":"A lot to show."}`,
	`{"tool":"edit","kind":"edit","title":"Edit","input":{"path":"a.go"},"stream":true,"locations":[{"path":"a.go"}],` +
		`"output":"changed","content":[{"type":"diff","path":"a.go","old":"a","new":"b"}],"result":{"ok":true},"exit":0}`,
	`{"tool":"shell","title":"Test","status":"failed","error":"exit status 1","exit":1}`,
	`{"ask":"command","command":"make test","title":"Test","why":"to be sure"}`,
	`{"plan":"How?","summary":"Two tasks.","confirm":true,"tasks":[` +
		`{"id":"a","title":"A","steps":[{"progress":"half"},{"say":"Done."}],"result":"A is done"},` +
		`{"id":"b","title":"B","steps":[{"fail":"not today"}]}],"aggregate":"Both."}`,
	`{"notice":"a notice","level":"warning"}`,
	`{"context":{"tokens":10,"max_tokens":100}}`,
	`{"usage":{"input":10,"output":2}}`,
	`{"retry":"overloaded","times":2,"delay":"1ms"}`,
	`{"recover":"restart","cause":"lost"}`,
	`{"say":"That was all."}`,
}

type pageAgents struct{ script *script.Script }

func (pageAgents) Names() []string { return []string{"main"} }

func (a pageAgents) Open(spec agent.Spec, host agent.Host) (agent.Agent, error) {
	agent, err := a.script.Open(spec, host)
	if err != nil {
		return nil, err
	}
	return &pageAgent{scriptAgent: agent.(scriptAgent)}, nil
}

type scriptAgent interface {
	agent.Agent
	agent.Explainer
	agent.Compactor
	agent.Measurer
	agent.TaskController
	agent.Configurer
	agent.Exporter
}

// A pageAgent is a script with a conversation that can be cut.
type pageAgent struct {
	scriptAgent

	mu    sync.Mutex
	turns []string
}

func (a *pageAgent) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.End, error) {
	a.mu.Lock()
	a.turns = append(a.turns, turn.ID)
	a.mu.Unlock()
	return a.scriptAgent.Run(ctx, turn, out)
}

func (a *pageAgent) Fork(context.Context, string) ([]byte, []agent.Blob, error) { return nil, nil, nil }

func (a *pageAgent) Undo(context.Context, bool) (agent.Undone, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	last := len(a.turns) - 1
	if last < 0 {
		return agent.Undone{}, protocol.Errorf(protocol.CodeConflict, "no turn to undo")
	}
	turn := a.turns[last]
	a.turns = a.turns[:last]
	return agent.Undone{Turn: turn}, nil
}

// servePage starts a server for the example and returns its URL. Its token is "secret". stop shuts
// it down; the end of the test does too.
func servePage(t *testing.T) (url string, stop func()) {
	t.Helper()
	agent, err := script.Parse("page", strings.NewReader(strings.Join(pageScript, "\n")))
	must(t, err)
	store, err := sqlite.Open(t.TempDir(), sqlite.Options{})
	must(t, err)
	s, err := server.New(t.Context(), server.Config{Documents: export.Documents{}, Session: session.Config{
		Store: store, Agents: pageAgents{agent}, DefaultAgent: "main",
		Signing: archive.Signing{Secret: []byte("secret")},
	}})
	must(t, err)
	l, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{Token: "secret"})
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		must(t, s.Shutdown(ctx))
		must(t, <-served)
		must(t, store.Close())
	})
	t.Cleanup(stop)
	return "http://" + l.Addr().String(), stop
}

// A line is a curl line of the page.
type line struct {
	number int
	text   string
	sets   string // variable
	from   string // the field of the answer that it is set from
	answer string // the example of the answer; empty: none
}

var setsVariable = regexp.MustCompile(`^(.*) # ([A-Z]+): (\w+)$`)

// readPage returns the curl lines of the page.
func readPage(t *testing.T) []line {
	t.Helper()
	text, err := os.ReadFile(page)
	must(t, err)
	var lines []line
	block := ""
	for i, s := range strings.Split(string(text), "\n") {
		switch {
		case strings.HasPrefix(s, "```"):
			block = strings.TrimPrefix(s, "```")
		case block == "sh" && strings.HasPrefix(s, "curl "):
			l := line{number: i + 1, text: s}
			if m := setsVariable.FindStringSubmatch(s); m != nil {
				l.text, l.sets, l.from = m[1], m[2], m[3]
			}
			lines = append(lines, l)
		case block == "json":
			lines[len(lines)-1].answer = s
		}
	}
	return lines
}

// runPage runs the lines of the page and checks that they succeed and use every route. run returns
// the method, the path and the answer of a line; the answer of a stream is its beginning.
func runPage(t *testing.T, vars map[string]string, run func(l *line) (method, path string, answer []byte)) {
	t.Helper()
	mux := http.NewServeMux()
	vars["TOMORROW"] = time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339)
	routes, used := map[string]*web.Route{}, map[string]bool{}
	for i := range web.Routes() {
		routes[web.Routes()[i].Pattern()] = &web.Routes()[i]
		mux.Handle(web.Routes()[i].Pattern(), http.NotFoundHandler())
	}
	for _, l := range readPage(t) {
		method, path, answer := run(&l)
		if t.Failed() {
			t.Fatalf("%s:%d: %s", page, l.number, l.text)
		}
		_, pattern := mux.Handler(newRequest(t, method, "http://server"+path, ""))
		route := routes[pattern]
		if route == nil {
			t.Fatalf("%s:%d: there is no route %s %s", page, l.number, method, path)
		}
		used[pattern] = true
		if l.answer != "" {
			result := route.Result
			if result == nil {
				result = protocol.CommandOf(route.Verb).Result
			}
			for what, text := range map[string][]byte{"example": []byte(l.answer), "answer": answer} {
				v := reflect.New(reflect.TypeOf(result()).Elem()).Interface()
				if err := protocol.DecodeStrict(bytes.TrimSpace(text), v); err != nil {
					t.Errorf("%s:%d: %s %s: %v", page, l.number, what, text, err)
				}
			}
		}
		if l.sets != "" {
			value := valueOf(answer, l.from)
			if value == "" {
				t.Fatalf("%s:%d: no %s in %.300s", page, l.number, l.from, answer)
			}
			vars[l.sets] = value
		}
	}
	for pattern := range routes {
		if !used[pattern] {
			t.Errorf("%s has no line for %s", page, pattern)
		}
	}
}

// valueOf returns the value of a field of an answer, or the first text with that name within it.
func valueOf(answer []byte, name string) string {
	var fields map[string]json.RawMessage
	value := json.RawMessage{}
	if json.Unmarshal(answer, &fields) == nil && fields[name] != nil {
		value = fields[name]
	} else if m := regexp.MustCompile(`"` + name + `":("[^"]*")`).FindSubmatch(answer); m != nil {
		value = m[1]
	}
	return strings.Trim(string(value), `"`)
}

// The lines run as requests of Go; under the build tag interop curl itself runs them.
func TestEveryLineOfThePageWorks(t *testing.T) {
	url, _ := servePage(t)
	vars := map[string]string{"URL": url, "AUTH": "Authorization: Bearer secret"}
	client := &http.Client{Transport: newJudge(t)}
	runPage(t, vars, func(l *line) (method, path string, answer []byte) {
		r := parseCurl(t, l.text, vars)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel() // ends a stream
		resp, err := client.Do(r.WithContext(ctx))
		must(t, err)
		defer resp.Body.Close()
		if resp.Header.Get("Content-Type") == "text/event-stream" {
			answer = make([]byte, 6)
			_, err = io.ReadFull(resp.Body, answer)
		} else {
			answer, err = io.ReadAll(resp.Body)
		}
		must(t, err)
		if resp.StatusCode >= http.StatusBadRequest {
			t.Errorf("%s %s: %d %s", r.Method, r.URL, resp.StatusCode, answer)
		}
		return r.Method, r.URL.Path, answer
	})
}

// parseCurl returns the request of a curl line.
func parseCurl(t *testing.T, text string, vars map[string]string) *http.Request {
	t.Helper()
	words := splitWords(text, vars)
	method, url, body := http.MethodGet, "", ""
	header := http.Header{}
	given := false
	for i := 1; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-H":
			i++
			name, value, _ := strings.Cut(words[i], ": ")
			header.Set(name, value)
		case w == "-X":
			i++
			method, given = words[i], true
		case w == "--json":
			i++
			body = words[i]
			header.Set("Content-Type", "application/json")
		case w == "-N":
		case strings.HasPrefix(w, "http://"):
			url = w
		default:
			t.Fatalf("curl: unknown word %q", w)
		}
	}
	if body != "" && !given {
		method = http.MethodPost
	}
	r := newRequest(t, method, url, body)
	r.Header = header
	return r
}

func newRequest(t *testing.T, method, url, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	must(t, err)
	return r
}

var variable = regexp.MustCompile(`\$[A-Z]+`)

// splitWords splits a line as a shell does: words in single quotes, in double quotes with variables
// and escaped quotes, and without quotes.
func splitWords(text string, vars map[string]string) []string {
	expand := func(s string) string {
		return variable.ReplaceAllStringFunc(s, func(name string) string { return vars[name[1:]] })
	}
	var words []string
	for _, m := range regexp.MustCompile(`'([^']*)'|"((?:\\.|[^"\\])*)"|(\S+)`).FindAllStringSubmatch(text, -1) {
		switch {
		case strings.HasPrefix(m[0], "'"):
			words = append(words, m[1])
		case strings.HasPrefix(m[0], `"`):
			words = append(words, expand(strings.ReplaceAll(m[2], `\"`, `"`)))
		default:
			words = append(words, expand(m[3]))
		}
	}
	return words
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(fmt.Errorf("unexpected: %w", err))
	}
}
