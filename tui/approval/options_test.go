package approval

import (
	"encoding/json"
	"reflect"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestApprovalOptions(t *testing.T) {
	for at, want := range []protocol.ApproveData{
		{Request: "r1", Option: "once"},
		{Request: "r1", Option: "always"},
		{Request: "r1", Option: "no"},
		{Request: "r1", Option: "stop"},
		{Request: "r1", Option: "explain"},
	} {
		for _, byDigit := range []bool{false, true} {
			s := open(t, tuitest.Scenes["approval"](), 80, 30)
			s.focus()
			s.mustShow("2 Always allow ▏ go mod tidy in /home/ada/store")
			if byDigit {
				s.press(string(rune('1' + at)))
			} else {
				for range at + 1 {
					s.press("down")
				}
			}
			s.mustNotDecide()
			s.press("enter")
			if want.Option == "always" {
				s.press("y")
			}
			if data := s.mustDecide(); !reflect.DeepEqual(data, want) {
				t.Errorf("option %d: got %+v, want %+v", at, data, want)
			}
		}
	}
}

func TestApprovalLetters(t *testing.T) {
	for key, want := range map[string]string{"y": "once", "n": "no"} {
		s := open(t, tuitest.Scenes["approval"](), 80, 30)
		s.focus()
		s.press(key)
		if data := s.mustDecide(); data.Option != want {
			t.Errorf("%s: got %+v, want option %s", key, data, want)
		}
	}
}

func TestAlwaysShowsItsScopeAndAsksOnceMore(t *testing.T) {
	for _, keys := range [][]string{{"a"}, {"2", "enter"}} {
		for _, c := range []struct {
			key  string
			sent bool
		}{{"y", true}, {"n", false}, {"esc", false}, {"enter", false}, {"a", false}, {"2", false}} {
			s := open(t, tuitest.Scenes["approval"](), 40, 30)
			s.focus()
			s.press(keys...)
			s.mustNotDecide()
			s.mustShow("Allow this always", "▏ go mod tidy in", "y allow always")
			s.press(c.key)
			if !c.sent {
				s.mustNotDecide()
				s.mustShow("1 Allow once")
				continue
			}
			if data := s.mustDecide(); data.Option != "always" {
				t.Errorf("got %+v, want option always", data)
			}
		}
	}
}

func TestApprovalReason(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 30)
	s.focus()
	s.press("r")
	s.typeText("not 2 day")
	if _, cursor := s.panel.View(s.width, s.height, true); cursor == nil {
		t.Error("no cursor in the reason")
	}
	s.press("enter")
	s.mustShow("r reason: ▏ not 2 day")
	s.press("n")
	if data := s.mustDecide(); data.Option != "no" ||
		data.Reason != "not 2 day" {
		t.Errorf("got decision %+v", data)
	}
}

func TestApprovalExplain(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 40)
	s.focus()
	s.press("5", "enter")
	s.mustDecide()
	s.journal.Add(protocol.ApprovalExplained, protocol.ApprovalExplainedData{
		Request: "r1", Text: "It drops what nothing imports.",
	})
	s.applyJournal()
	s.mustShow("explain ▏ It drops what nothing imports.", "1 Allow once")
	s.waitGrace()
	s.press("y")
	s.mustDecide()
}

func TestApprovalNextRequest(t *testing.T) {
	s := open(t, tuitest.Scenes["approval"](), 80, 30)
	s.focus()
	s.press("right")
	s.mustShow("approval 2 of 2")
	s.waitGrace()
	s.press("y")
	if data := s.mustDecide(); data.Request != "r2" || data.Option != "once" {
		t.Errorf("got decision %+v", data)
	}
}

func TestApprovalArguments(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 30)
	s.journal.RequestApproval(protocol.Approval{
		Request: "r1",
		Kind:    protocol.ApproveTool,
		Title:   "Fetch a page",
		Input:   json.RawMessage(`{"url":"https://x.y/z"}`),
	})
	s.applyJournal()
	s.mustShow("https://x.y/z")
	s.mustHide("Fetch a page") // the line above the card has it
	s.press("alt+1", "v")
	s.mustShow("title   ▏ Fetch a page")
	s = open(t, tuitest.Scenes["transcript"](), 80, 30)
	s.journal.RequestApproval(protocol.Approval{
		Request: "r1",
		Kind:    protocol.ApproveCommand,
		Title:   "Run",
		Command: "make",
		Input:   json.RawMessage(`{"argv":["make"],"raw":true}`),
	})
	s.applyJournal()
	s.mustShow("command ▏ make", `input   ▏ {"argv":["make"],"raw":true}`)
}
