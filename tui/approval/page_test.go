package approval

import (
	"testing"

	"agentctl/internal/dev/tuitest"
)

func TestAPageIsOpenedByItsKeyAlone(t *testing.T) {
	s := openRequest(t, tuitest.PageApproval(), 100, 40)
	s.mustShow("page", "login.example:8443", "its query is not known here")
	s.press("o")
	s.mustNotOpen()
	s.mustShow("not opened: its query is not known here")
	for _, other := range []string{
		"https://login.example:8443/other?x", "https://evil.example/oauth/authorize?x", "javascript:alert(1)", "",
	} {
		s.panel.SetPage("p1", other)
	}
	s.mustShow("its query is not known here")
	s.panel.SetPage("p1", tuitest.PageURL)
	s.mustShow(tuitest.PageURL)
	s.mustHide("URL     its")
	if r := s.panel.Current(); r.Page.URL == tuitest.PageURL {
		t.Error("the request was changed")
	}
	s.press("o")
	s.mustNotOpen() // the page has changed
	s.waitGrace()
	s.press("o")
	if url := s.mustOpen(); url != tuitest.PageURL {
		t.Errorf("opens %q", url)
	}
	data := s.mustDecide()
	if data.Option != "opened" || data.Input != nil {
		t.Errorf("decided %+v", data)
	}
}

func TestAPageThatWasOpenedElsewhereIsConfirmed(t *testing.T) {
	for _, key := range []string{"y", "n"} {
		s := openRequest(t, tuitest.PageApproval(), 100, 40)
		s.panel.SetPage("p1", tuitest.PageURL)
		s.view()
		s.waitGrace()
		s.press(key)
		s.mustNotOpen()
		if d := s.mustDecide(); d.Option != map[string]string{"y": "opened", "n": "skip"}[key] {
			t.Errorf("%s decided %+v", key, d)
		}
	}
	s := openRequest(t, tuitest.FormApproval(), 100, 70)
	s.press("o")
	s.mustNotOpen()
	s.mustShow("this request asks to open no page")
}

// The first keys after the arrival open nothing.
func TestAPageIsNotOpenedTooSoon(t *testing.T) {
	s := openRequest(t, tuitest.PageApproval(), 100, 40)
	s.panel.SetPage("p1", tuitest.PageURL)
	s.panel.Reopen()
	s.view()
	s.press("o")
	s.mustNotOpen()
	s.mustNotDecide()
	s.waitGrace()
	s.panel.Touch()
}
