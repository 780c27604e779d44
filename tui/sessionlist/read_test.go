package sessionlist

import (
	"fmt"
	"testing"

	"agentctl/protocol"
)

func TestATurnThatEndsIsUnreadUntilTheSessionIsOpened(t *testing.T) {
	for name, turns := range map[string]int{"with counts of turns": 3, "without": 0} {
		l := New()
		s := protocol.Summary{Session: "s", Status: protocol.Idle, Reason: protocol.ReasonCompleted, Updated: start}
		s.Turns = turns
		want := func(step string, group Group) {
			t.Helper()
			if got := l.GroupOf("s"); got != group {
				t.Errorf("%s, %s: group %s, want %s", name, step, got, group)
			}
		}
		l.Put(s)
		want("before any turn", Idle)
		run := func() {
			s.Status, s.Turn = protocol.Running, "t"
			l.Put(s)
			want("running", Running)
			s.Status, s.Turn = protocol.Idle, ""
			if turns > 0 {
				s.Turns++
			}
			l.Put(s)
		}
		run()
		want("after a turn", Unread)
		s.Clients++
		l.Put(s)
		want("after another change", Unread)
		l.MarkSeen("s")
		want("opened", Idle)
		l.Put(s)
		want("opened, after another change", Idle)
		run()
		want("after the next turn", Unread)
	}
}

func TestReadSurvivesInItsRecord(t *testing.T) {
	session := func(id string, turns, created int) protocol.Summary {
		return protocol.Summary{
			Session: id, Status: protocol.Idle, Updated: at(9), Progress: protocol.Progress{Turns: turns},
			Attributes: protocol.Attributes{Created: at(created)},
		}
	}
	before := New()
	before.SetRead(Read{Since: start})
	before.Put(session("read", 2, 1))
	before.MarkSeen("read")
	l := New()
	l.SetRead(before.Read())
	for id, want := range map[string]Group{"read": Idle, "old": Idle, "new": Unread, "empty": Idle} {
		l.Put(map[string]protocol.Summary{
			"read": session("read", 2, 9), "old": session("old", 4, -1), "new": session("new", 1, 1),
			"empty": {Session: "empty", Status: protocol.Idle, Updated: at(9)},
		}[id])
		if got := l.GroupOf(id); got != want {
			t.Errorf("%s: group %s, want %s", id, got, want)
		}
	}
	for _, id := range []string{"read", "old"} {
		if l.Put(session(id, 5, 1)); l.GroupOf(id) != Unread {
			t.Errorf("%s: the next turn is not unread", id)
		}
	}
}

func TestReadIsBounded(t *testing.T) {
	var r Read
	for i := range MaxRead + 10 {
		r.mark(fmt.Sprint("s", i), 1)
	}
	if n := len(r.Sessions); n != MaxRead {
		t.Errorf("%d marks, want %d", n, MaxRead)
	}
	if _, ok := r.Sessions["s0"]; ok {
		t.Error("the oldest mark is still there")
	}
	if _, ok := r.Sessions[fmt.Sprint("s", MaxRead+9)]; !ok {
		t.Error("the newest mark is gone")
	}
}

// Later screens have the order that a user chose. A screen that did not choose changes nothing.
func TestTheOrderIsKept(t *testing.T) {
	first, second := New(), New()
	first.SetRead(Read{})
	second.SetRead(Read{})
	changes := first.ReadChanges()
	first.ChooseOrder(ByProject)
	if first.ReadChanges() == changes {
		t.Error("the choice is not saved")
	}
	file := first.Read()
	other := second.Read() // saved later
	other.Merge(file)
	later := New()
	later.SetRead(other)
	if later.Order() != ByProject {
		t.Errorf("a later list is by %s", later.Order())
	}
	later.SetRead(Read{Order: "unknown"})
	if later.Order() != ByProject {
		t.Errorf("an unknown order gives %s", later.Order())
	}
}
