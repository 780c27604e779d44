package e2e

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// Values that no file, event, document or state may have, and one that they have.
const (
	secretAnswer = "hunter2-is-the-secret-answer"
	secretQuery  = "state=the-secret-query"
	plainAnswer  = "the-answer-that-is-no-secret"
)

// formScript asks with a form, then asks to open a page.
var formScript = []string{
	`{"on":"*"}`,
	`{"ask":"question","request":"form","title":"Where?","questions":[` +
		`{"id":"size","text":"Size","type":"integer","required":true,"max":9},` +
		`{"id":"city","text":"City","closed":true,"choices":[{"id":"b","label":"Berlin"},{"id":"m","label":"Munich"}],"default":["b"]},` +
		`{"id":"note","text":"Note"},{"id":"pw","text":"Password","secret":true}]}`,
	`{"ask":"question","request":"page","title":"Log in at https://login.example/a?` + secretQuery + `",` +
		`"page":{"url":"https://login.example/a?` + secretQuery + `","host":""}}`,
	`{"say":"done"}`,
}

func answerForm(pw string) protocol.ApproveData {
	return protocol.ApproveData{Request: "form", Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{
		Answers: map[string][]string{"size": {"3"}, "city": {"Munich"}, "note": {plainAnswer}}, Secrets: map[string][]string{"pw": {pw}},
	}}
}

// until returns a condition that is true at the n-th event of a type.
func until(typ protocol.Type, n int) func(*protocol.Event) bool {
	return func(e *protocol.Event) bool {
		if e.Type == typ {
			n--
		}
		return n == 0
	}
}

// A client that attaches while a form is pending has the same request as one that saw it come. Of
// concurrent answers one wins. A wrong answer leaves the request pending.
func TestASecondClientSeesAQuestionLiveAndLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, formScript...)
		ann, bob, eve := w.client("ann"), w.client("bob"), w.client("eve")
		id := w.create(ann)
		live := async(func() *observer {
			return observe(t.Context(), bob, id, wsclient.SubscribeOptions{}, until(protocol.ApprovalRequested, 1))
		})
		synctest.Wait()
		w.send(ann, id, "go")
		first := <-live
		late := do[protocol.SnapshotResult](t, eve, protocol.DoSnapshot, id, protocol.Empty{}).Snapshot.State
		want := late.PendingApproval("form")
		if first.err != nil || want == nil || !reflect.DeepEqual(first.state.PendingApproval("form"), want) {
			t.Fatalf("%v: live %+v, late %+v", first.err, first.state.Approvals, want)
		}
		if q := want.Questions; len(q) != 4 || q[0].Wants() != "required · integer · at most 9" || !q[3].Secret || !q[1].Closed {
			t.Errorf("questions %+v", q)
		}
		for _, size := range []string{"10", "x", ""} {
			d := answerForm("p")
			d.Input.Answers["size"] = []string{size}
			_, err := wsclient.Call[protocol.ApproveResult](t.Context(), ann, protocol.DoApprove, id, d)
			if protocol.CodeOf(err) != protocol.CodeInvalidMessage || !strings.Contains(err.Error(), `"size"`) {
				t.Errorf("size %q: %v", size, err)
			}
		}
		answers := map[string]<-chan error{}
		for name, c := range map[string]*wsclient.Client{"ann": ann, "bob": bob, "eve": eve} {
			answers[name] = async(func() error {
				_, err := wsclient.Call[protocol.ApproveResult](
					t.Context(), c, protocol.DoApprove, id, answerForm(name),
				)
				return err
			})
		}
		wins := 0
		for name, answer := range answers {
			var refused *protocol.Error
			switch err := <-answer; {
			case err == nil:
				wins++
			case !errors.As(err, &refused) || refused.Code != protocol.CodeConflict || refused.Winner == nil:
				t.Errorf("%s: %v", name, err)
			}
		}
		if wins != 1 {
			t.Errorf("%d winners", wins)
		}
	})
}

// What must not be known is in no event, state, answer, document and file, also after a restart. Those
// who decide get the page.
func TestSecretsOfQuestionsAreKeptNowhere(t *testing.T) {
	w := newTestServer(t, formScript...)
	ann := w.client("ann")
	id := w.create(ann)
	w.send(ann, id, "go")
	mustObserve(t, ann, id, wsclient.SubscribeOptions{}, until(protocol.ApprovalRequested, 1))
	do[protocol.ApproveResult](t, ann, protocol.DoApprove, id, answerForm(secretAnswer))
	asked := mustObserve(t, ann, id, wsclient.SubscribeOptions{}, until(protocol.ApprovalRequested, 2))
	page := do[protocol.OpenPageResult](t, ann, protocol.DoOpenPage, id, protocol.OpenPageData{})
	if page.PageURL != "https://login.example/a?"+secretQuery {
		t.Errorf("page %+v", page)
	}
	if p := asked.state.PendingApproval("page"); p == nil || p.Title != "Log in at https://login.example/a" || !p.Page.Hidden {
		t.Errorf("asked %+v", p)
	}
	kept := map[string][]byte{
		"the snapshot": protocol.MustEncode(
			do[protocol.SnapshotResult](t, ann, protocol.DoSnapshot, id, protocol.Empty{}),
		),
	}
	ended := async(func() error { // it sees the request, and decides it
		return observe(t.Context(), ann, id, wsclient.SubscribeOptions{}, func(e *protocol.Event) bool {
			if e.Type == protocol.ApprovalRequested && strings.Contains(string(e.Data), "login.example") {
				do[protocol.ApproveResult](
					t, ann, protocol.DoApprove, id, protocol.ApproveData{Decision: protocol.AllowOnce},
				)
			}
			return e.Type == protocol.TurnEnded
		}).err
	})
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	kept["the export"] = protocol.MustEncode(do[protocol.ExportResult](t, ann, protocol.DoExport, id, protocol.Empty{}))
	w.stop()
	w.start()
	history := do[protocol.HistoryResult](t, w.client("bob"), protocol.DoHistory, id, protocol.HistoryData{Limit: 10})
	kept["the history"] = protocol.MustEncode(history)
	w.stop()
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			kept[path], err = os.ReadFile(path)
		}
		return err
	})
	w.start() // the end of the test stops it
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for where, text := range kept {
		for _, value := range []string{secretAnswer, secretQuery, plainAnswer} {
			if n := bytes.Count(text, []byte(value)); n > 0 {
				found[value] += n
				if value != plainAnswer {
					t.Errorf("%s has %s", where, value)
				}
			}
		}
	}
	if found[plainAnswer] < 2 || !strings.Contains(string(kept["the history"]), plainAnswer) {
		t.Errorf("the search finds nothing: %v", found)
	}
}

// The clients of the dialects that have questions see which answers a form takes, and answer it. The
// others see its text.
func TestAFormIsSeenAndAnsweredInTheDialects(t *testing.T) {
	for _, name := range append([]string{native}, dialect.Names()...) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTestServer(t, formScript...)
				ann := w.client("ann")
				id := w.create(ann)
				there, here := follow(t, native, ann, id), follow(t, name, w.dialectClient(name, id), id)
				synctest.Wait()
				w.send(here.client, id, "go")
				there.waitFor(protocol.ApprovalRequested)
				here.waitFor(protocol.ApprovalRequested)
				pending := here.state.Approvals
				if text := string(protocol.MustEncode(pending)); len(pending) != 1 || !strings.Contains(text, "Size") ||
					!strings.Contains(text, "at most 9") && pending[0].Questions[0].Max == nil {
					t.Fatalf("pending %s", text)
				}
				a := pending[0]
				d := protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce}
				if name == "agentloop" || name == "multiagent" {
					_, err := wsclient.Call[protocol.ApproveResult](t.Context(), here.client, protocol.DoApprove, id, protocol.ApproveData{
						Request: a.Request, Decision: protocol.AllowOnce, Input: answerForm(secretAnswer).Input,
					})
					if protocol.CodeOf(err) != protocol.CodeUnsupported {
						t.Errorf("answers of a dialect without them: %v", err)
					}
					if text := string(protocol.MustEncode(a)); !strings.Contains(text, "This can only be denied here: Size needs an answer") {
						t.Errorf("the request does not say that it can only be denied: %s", text)
					}
					d.Decision = protocol.Deny
				} else {
					answers := map[string][]string{}
					for i := range a.Questions {
						q := &a.Questions[i]
						for text, value := range map[string]string{"Size": "3", "City": "Munich", "Password": secretAnswer} {
							if strings.HasPrefix(q.Text, text) {
								answers[q.ID] = []string{value}
								if c := q.Choice(value); c != nil {
									answers[q.ID] = []string{c.ID}
								}
							}
						}
					}
					d.Input = a.InputOf(answers)
				}
				do[protocol.ApproveResult](t, here.client, protocol.DoApprove, id, d)
				var got protocol.ApprovalResolvedData
				if err := there.waitFor(protocol.ApprovalResolved).Decode(&got); err != nil {
					t.Fatal(err)
				}
				want := &protocol.ApprovalInput{
					Answers: map[string][]string{"size": {"3"}, "city": {"m"}, "pw": {protocol.HiddenAnswer}},
				}
				if d.Decision == protocol.Deny {
					want = nil
				}
				if !reflect.DeepEqual(got.Input, want) {
					t.Errorf("resolved %+v with %+v", got, got.Input)
				}
				if want == nil {
					return
				}
				// The page, without its query.
				here.waitFor(protocol.ApprovalRequested)
				text := string(protocol.MustEncode(here.state.Approvals))
				if !strings.Contains(text, "https://login.example/a") || strings.Contains(text, secretQuery) {
					t.Errorf("the page is %s", text)
				}
				request := here.state.Approvals[0].Request
				do[protocol.ApproveResult](t, here.client, protocol.DoApprove, id, protocol.ApproveData{
					Request: request, Decision: protocol.AllowOnce,
				})
				there.waitFor(protocol.TurnEnded)
				if s := strings.Join(here.raw, ""); strings.Contains(s, secretAnswer) || strings.Contains(s, secretQuery) {
					t.Errorf("the dialect has secrets:\n%s", s)
				}
			})
		})
	}
}
