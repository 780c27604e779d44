package serverset

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	_ "agentctl/internal/dev/golden" // the flag -update
	"agentctl/internal/panics"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

// A fakeServer is a server with fixed sessions. Its Watch and Conns end with their context.
type fakeServer struct {
	summaries []protocol.Summary
	conns     []remote.Conn
	watchErr  error // after the summaries
	search    func(ctx context.Context, d protocol.SearchData) (protocol.SearchResult, error)
	silent    bool // Watch yields nothing
	retries   int
	sandbox   *protocol.Sandbox
}

func (f *fakeServer) Watch(ctx context.Context) iter.Seq2[protocol.Summary, error] {
	return func(yield func(protocol.Summary, error) bool) {
		if !f.silent {
			for _, s := range f.summaries {
				if !yield(s, nil) {
					return
				}
			}
		}
		if f.watchErr != nil {
			yield(protocol.Summary{}, f.watchErr)
			return
		}
		<-ctx.Done()
	}
}

func (f *fakeServer) Conns(ctx context.Context) iter.Seq[remote.Conn] {
	return func(yield func(remote.Conn) bool) {
		for _, c := range f.conns {
			if !yield(c) {
				return
			}
		}
		<-ctx.Done()
	}
}

func (f *fakeServer) Session(id string) remote.Session { return fakeSession(id) }
func (f *fakeServer) Agents() []string                 { return []string{"claude"} }
func (f *fakeServer) Sandbox() *protocol.Sandbox       { return f.sandbox }
func (f *fakeServer) Retry()                           { f.retries++ }

func (f *fakeServer) Search(ctx context.Context, d protocol.SearchData) (protocol.SearchResult, error) {
	return f.search(ctx, d)
}

func (f *fakeServer) Create(context.Context, protocol.CreateData) (protocol.CreateResult, error) {
	return protocol.CreateResult{Session: "new"}, nil
}

// A fakeSession is the id that a server was asked for.
type fakeSession string

func (fakeSession) Updates(context.Context) iter.Seq[remote.Update]   { return nil }
func (fakeSession) Do(context.Context, protocol.Verb, any, any) error { return nil }

func summaryOf(id, parent string) (s protocol.Summary) {
	s.Session, s.Parent = id, parent
	return s
}

func TestSessionsOfOtherServersHaveTheirName(t *testing.T) {
	home, box := &fakeServer{}, &fakeServer{sandbox: &protocol.Sandbox{Mode: protocol.SandboxWorkspace}}
	s := New(Member{"local", home}, Member{"box", box})
	for id, want := range map[string]struct{ server, there string }{
		"s_1":      {"local", "s_1"},
		"box/s_1":  {"box", "s_1"},
		"gone/s_1": {"local", "gone/s_1"}, // home answers that it has none
	} {
		if got := s.ServerOf(id); got != want.server {
			t.Errorf("%s is on %q", id, got)
		}
		if got := s.Session(id); got != fakeSession(want.there) {
			t.Errorf("%s is session %q there", id, got)
		}
	}
	r, err := s.CreateOn(t.Context(), "box", protocol.CreateData{})
	if err != nil || r.Session != "box/new" {
		t.Errorf("created %q, %v", r.Session, err)
	}
	if r, err = s.Create(t.Context(), protocol.CreateData{}); err != nil || r.Session != "new" {
		t.Errorf("created %q, %v", r.Session, err)
	}
	if _, err := s.CreateOn(t.Context(), "gone", protocol.CreateData{}); err == nil {
		t.Error("created on a server that is not there")
	}
	if s.Retry(); home.retries != 1 || box.retries != 1 {
		t.Errorf("retries: %d, %d", home.retries, box.retries)
	}
	if got := s.AgentsOf("box"); len(got) != 1 || s.AgentsOf("gone") != nil {
		t.Errorf("agents %q", got)
	}
	if got := s.SandboxOf("box"); got != box.sandbox || s.Sandbox() != nil || s.SandboxOf("local") != nil || s.SandboxOf("gone") != nil {
		t.Errorf("sandbox %v", got)
	}
}

// A server that is silent or fails delays and ends no other one.
func TestWatchYieldsTheSummariesOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(
			Member{"local", &fakeServer{summaries: []protocol.Summary{summaryOf("s_1", "")}}},
			Member{"box", &fakeServer{summaries: []protocol.Summary{summaryOf("s_1", ""), summaryOf("s_2", "s_1")}}},
			Member{"silent", &fakeServer{silent: true}},
			Member{"failed", &fakeServer{watchErr: errors.New("refused")}},
		)
		ctx, cancel := context.WithCancel(t.Context())
		var got []string
		done := make(chan struct{})
		go func() {
			defer close(done)
			for summary, err := range s.Watch(ctx) {
				if err != nil {
					t.Error(err)
				}
				got = append(got, summary.Session+"<"+summary.Parent)
			}
		}()
		synctest.Wait()
		cancel()
		<-done
		slices.Sort(got)
		if want := []string{"box/s_1<", "box/s_2<box/s_1", "s_1<"}; !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	})
}

func TestWatchEndsWithAnErrorOfHome(t *testing.T) {
	want := errors.New("refused")
	s := New(Member{"local", &fakeServer{watchErr: want}}, Member{"box", &fakeServer{}})
	var got error
	for _, err := range s.Watch(t.Context()) {
		got = err
	}
	if !errors.Is(got, want) {
		t.Errorf("%v", got)
	}
}

func TestServerConnsAreThoseOfTheOthers(t *testing.T) {
	s := New(
		Member{"local", &fakeServer{conns: []remote.Conn{{State: remote.Connected}}}},
		Member{"box", &fakeServer{conns: []remote.Conn{{State: remote.Connecting}, {State: remote.Connected}}}},
	)
	var got []string
	for c := range s.ServerConns(t.Context()) {
		if got = append(got, c.Server+" "+string(c.Conn.State)); len(got) == 2 {
			break
		}
	}
	if want := []string{"box connecting", "box connected"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestAPanicOfAServerReachesTheReader(t *testing.T) {
	s := New(Member{"local", &fakeServer{}}, Member{"box", nil})
	err := panics.Call(func() {
		for summary, err := range s.Watch(t.Context()) {
			t.Errorf("%v, %v", summary, err)
		}
	})
	if panics.As(err) == nil {
		t.Errorf("no panic: %v", err)
	}
}

func failedSearch(context.Context, protocol.SearchData) (protocol.SearchResult, error) {
	return protocol.SearchResult{}, errors.New("unreadable")
}

func silentSearch(ctx context.Context, _ protocol.SearchData) (protocol.SearchResult, error) {
	<-ctx.Done()
	return protocol.SearchResult{}, ctx.Err()
}

func TestSearchGoesThroughAllServers(t *testing.T) {
	pages := func(hits ...string) func(context.Context, protocol.SearchData) (protocol.SearchResult, error) {
		return func(_ context.Context, d protocol.SearchData) (protocol.SearchResult, error) {
			at := 0
			if d.Cursor != "" {
				if _, err := fmt.Sscanf(d.Cursor, "at/%d", &at); err != nil {
					return protocol.SearchResult{}, err
				}
			}
			r := protocol.SearchResult{Hits: []protocol.Hit{{Session: hits[at]}}}
			if at+1 < len(hits) {
				r.Cursor = fmt.Sprintf("at/%d", at+1)
			}
			return r, nil
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s := New(
			Member{"local", &fakeServer{search: pages("s_1", "s_2")}},
			Member{"failed", &fakeServer{search: failedSearch}},
			Member{"silent", &fakeServer{search: silentSearch}},
			Member{"box", &fakeServer{search: pages("s_1")}},
		)
		var hits, skipped []string
		for data := (protocol.SearchData{Query: "x"}); ; {
			r, err := s.Search(t.Context(), data)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range r.Hits {
				hits = append(hits, h.Session)
			}
			skipped = append(skipped, r.Skipped...)
			if data.Cursor = r.Cursor; r.Cursor == "" {
				break
			}
		}
		got := strings.Join(hits, " ") + " without " + strings.Join(skipped, " ")
		if got != "s_1 s_2 box/s_1 without failed silent" {
			t.Error(got)
		}
		if _, err := s.Search(t.Context(), protocol.SearchData{Cursor: "9/"}); err == nil {
			t.Error("an invalid cursor is taken")
		}
	})
}
