package approval

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

// A pending request has one form as long as it is pending, and the shown one stays as long as it is
// pending.
func TestRequestsKeepTheirFormsAndTheShownOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := requests{forms: map[string]*Form{}}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			id := rapid.SampledFrom([]string{"a", "b", "c", "d"})
			ids := rapid.SliceOfNDistinct(id, 0, 4, rapid.ID[string]).Draw(t, "ids")
			pending := make([]protocol.Approval, len(ids))
			for i, id := range ids {
				pending[i].Request = id
			}
			before, shown := map[string]*Form{}, l.shown
			for id, f := range l.forms {
				before[id] = f
			}
			removed, changed := l.update(pending, func(r *protocol.Approval) *Form {
				return &Form{request: r.Request}
			})
			for id, f := range before {
				pends, kept := slices.Contains(ids, id), l.forms[id] == f
				if kept != pends || slices.Contains(removed, f) == pends {
					t.Fatalf("request %s, pending %v: the form is kept %v, removed %v", id, pends, kept, removed)
				}
			}
			if len(l.forms) != len(ids) {
				t.Fatalf("got %d forms for %v", len(l.forms), ids)
			}
			if kept := slices.Contains(ids, shown); changed == kept || kept && l.shown != shown {
				t.Fatalf("%v: shows %q after %q, changed %v", ids, l.shown, shown, changed)
			}
			if r, f := l.current(); len(ids) == 0 && (r != nil || f != nil || l.shown != "") ||
				len(ids) > 0 && (r == nil || r.Request != l.shown || f != l.forms[l.shown] || f == nil) {
				t.Fatalf("%v: shows request %+v, form %+v", ids, r, f)
			}
			if by := rapid.IntRange(-1, 1).Draw(t, "cycle"); by != 0 {
				at := slices.Index(ids, l.shown)
				if l.cycle(by) != (len(ids) > 1) || len(ids) > 1 && ids[(at+by+len(ids))%len(ids)] != l.shown {
					t.Fatalf("%v: %d places from %d is %q", ids, by, at, l.shown)
				}
			}
		}
	})
}

func TestThePlaceOfARequestIsNamedAmongSeveral(t *testing.T) {
	newForm := func(*protocol.Approval) *Form { return &Form{} }
	l := requests{forms: map[string]*Form{}}
	l.update([]protocol.Approval{{Request: "a"}}, newForm)
	if got := l.place(); got != "" {
		t.Errorf("got %q for the only request", got)
	}
	l.update([]protocol.Approval{{Request: "b"}, {Request: "a"}}, newForm)
	if got := l.place(); got != " 2 of 2" {
		t.Errorf("got %q", got)
	}
}
